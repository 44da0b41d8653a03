export function fastFolder(): string;
export function diskFolder(): string;
