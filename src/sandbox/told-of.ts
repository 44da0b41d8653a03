import type { Told } from './world.js';

/** The acts that may have one of these kinds (a member of the union can stand for several). */
export type ToldOf<K extends Told['kind'], T = Told> = T extends { kind: infer Kinds } ? (Extract<Kinds, K> extends never ? never : T) : never;
