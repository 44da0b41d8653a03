/** The account under which servers run; null = no change of user. */
export function serverAccount(): { uid: number; gid: number } | null;
