/**
 * How many bytes of `bytes` end on a character's border: all of them, or up to three less when the last character has
 * only begun. Bytes that can become no character count as one each, as Node's decoder counts them.
 */
export function completeLength(bytes: Buffer): number {
  const end = bytes.length;
  for (let back = 1; back <= 3 && back <= end; back += 1) {
    const byte = bytes[end - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    // The decoder alone knows which beginnings are well formed (E0 80 is not): it makes one replacement character of
    // a beginning that may still go on, and one of every byte otherwise.
    const isBegun = byte >= 0xc2 && byte <= 0xf4 && back < sequenceLength(byte);
    return isBegun && bytes.toString('utf8', end - back).length === 1 ? end - back : end;
  }
  return end;
}

/** How many bytes at the beginning belong to a character that began before them: 0 to 3. */
export function brokenStart(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80) at += 1;
  return at;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
