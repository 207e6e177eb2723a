/**
 * What a tool says of its calls. The forms are those of agent runtimes: a word or a function of the arguments, and the
 * read-only hint of the Model Context Protocol.
 */
export type ToolSafety<Arguments = unknown> = {
  /** Whether a call may overlap its siblings: of every call, or of one by its parsed arguments. */
  readonly isConcurrencySafe?: boolean | ((args: Arguments) => boolean) | undefined;
  /** Asked only where the tool says nothing about overlapping. */
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
  /** Makes arguments of what the caller sent; it throws for what is none. Default: JSON where that is text. */
  readonly parse?: ((given: unknown) => Arguments) | undefined;
};

/**
 * Whether a call of a tool may run at the same time as its siblings. Fail-closed, total, and asked once a call: only the
 * value `true` is a yes. Serial is a tool that nobody knows (null), one that says nothing and hints at nothing,
 * arguments that do not parse, a function that throws, and an answer that is merely truthy, such as a promise.
 *
 * @param given the arguments as they came: a value, or JSON as text.
 *
 * @example
 * const tool = { isConcurrencySafe: ({ path }) => !path.startsWith('/etc/') };
 * isCallSafe(tool, '{"path":"notes.md"}'); // true
 * isCallSafe(tool, '{"path":'); // false
 * isCallSafe({ annotations: { readOnlyHint: true } }, {}); // true
 * isCallSafe(undefined, {}); // false
 */
export function isCallSafe<Arguments>(tool: ToolSafety<Arguments> | null | undefined, given: unknown): boolean {
  try {
    if (tool === null || tool === undefined) return false;
    const args = (tool.parse ?? parsed)(given) as Arguments;
    const { isConcurrencySafe } = tool;
    if (isConcurrencySafe === undefined) return tool.annotations?.readOnlyHint === true;
    const answer: unknown = typeof isConcurrencySafe === 'function' ? isConcurrencySafe(args) : isConcurrencySafe;
    return answer === true;
  } catch {
    return false;
  }
}

function parsed(given: unknown): unknown {
  return typeof given === 'string' ? JSON.parse(given) : given;
}
