/**
 * The intentions say that something below a path key is touched, and are taken on everything above it by themselves. Asked
 * for alone they mark a directory as being worked in, in parts that other keys name.
 */
export type LockMode = 'shared' | 'exclusive' | 'intention-shared' | 'intention-exclusive';

/** A key in a mode. A bare string asks for the key exclusively. */
export type LockRequest = string | { readonly key: string; readonly mode?: LockMode };
