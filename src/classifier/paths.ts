/**
 * Paths are judged by their text alone: normalised against the directory the command works in, symlinks unseen. That
 * directory is `''` when nobody told, a normalised absolute path when it is known, and a normalised relative one when
 * only an option named it.
 */

/** Reading below these can block, consume or change something: devices, the kernel's views of processes and hardware. */
const DEVICE_TREES: readonly string[] = ['dev', 'proc', 'sys'];

const SLASH = 47;
const GLOB_CHARACTERS = '*?[]';

/** `/a//b/./c/../d` is `/a/b/d`; `./x/../..` is `..`; a relative path that ends where it began is `''`. Linear. */
export function normalise(path: string): string {
  const absolute = path.charCodeAt(0) === SLASH;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!absolute) parts.push('..');
  }
  return absolute ? `/${parts.join('/')}` : parts.join('/');
}

/** Where `path` leads from `base`. */
export function resolve(base: string, path: string): string {
  if (base === '' || path.charCodeAt(0) === SLASH) return normalise(path);
  return normalise(`${base}/${path}`);
}

/**
 * Whether the path may lead under `/dev`, `/proc` or `/sys` from `base`. Where the base is not known, a path that would
 * do so from the root, or by climbing to it, may.
 *
 * @param glob the path holds unquoted `*`, `?`, `[`, each of which may stand for anything.
 */
export function reachesDevices(path: string, base: string, glob: boolean): boolean {
  if (staysInside(path, base)) return false;
  const first = firstName(resolve(base, path));
  return DEVICE_TREES.some((tree) => (glob ? mayBe(first, tree) : first === tree));
}

/** Whether a normalised absolute path is one of those trees or below. */
export function isUnderDevices(path: string): boolean {
  return DEVICE_TREES.some(
    (tree) =>
      path.startsWith(tree, 1) && (path.length === tree.length + 1 || path.charCodeAt(tree.length + 1) === SLASH),
  );
}

/** Whether a text spells one of those trees somewhere: `/dev`, `x/proc/1`. */
export function namesDevices(text: string): boolean {
  return DEVICE_TREES.some((tree) => `${text}/`.includes(`/${tree}/`) || text.startsWith(`${tree}/`));
}

/** Whether the path leads to the root from `base`; where the base is not known, one that only climbs may. */
export function isRoot(path: string, base: string): boolean {
  const where = resolve(base, path);
  return where === '/' || (where !== '' && where.split('/').every((part) => part === '..'));
}

/** Whether a part of a path with globs may stand for `..`, as `.*` does before bash 5.2. A glob matches no leading dot. */
export function mayClimb(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.') && part !== '..' && mayBe(part, '..'));
}

/** The cheap and common answer: below a known directory other than the root, nothing leads to a device without `..`. */
function staysInside(path: string, base: string): boolean {
  return base.length > 1 && base.charCodeAt(0) === SLASH && path.charCodeAt(0) !== SLASH && !path.includes('..');
}

/** The first name of a normalised path behind its root or its climbing: `dev` of `/dev/tty`, of `../../dev`. */
function firstName(path: string): string {
  return path.split('/').find((part) => part !== '' && part !== '..') ?? '';
}

/** Whether a part with globs may match the name: what stands before its first and behind its last glob has to fit. */
function mayBe(part: string, name: string): boolean {
  let head = 0;
  while (head < part.length && !GLOB_CHARACTERS.includes(part[head]!)) head++;
  if (head === part.length) return part === name;
  let tail = part.length;
  while (!GLOB_CHARACTERS.includes(part[tail - 1]!)) tail--;
  return name.startsWith(part.slice(0, head)) && name.endsWith(part.slice(tail));
}
