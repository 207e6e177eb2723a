/** Nothing came for so long that the connection must be dead: the service sends signs of life. */
export class Silence extends Error {}

/**
 * The values of a body of JSON lines as they come. What stands behind the last line feed is no value: the connection broke
 * in the middle of it. Rejects with `Silence` when nothing at all comes for `silenceMs`, signs of life included.
 */
export async function* jsonLines<T>(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<T> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silenceMs);
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end).trim();
        rest = rest.slice(end + 1);
        if (line !== '') yield JSON.parse(line) as T;
      }
    }
  } finally {
    // Whoever stops reading lets the connection go; one that is broken already has nothing to say about that.
    void reader.cancel().catch(() => undefined);
  }
}

async function within<T>(result: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Silence(`Nothing came for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([result, silence]);
  } finally {
    clearTimeout(timer);
  }
}
