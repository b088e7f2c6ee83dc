/** Its bytes; in a loop, as `Uint8Array.from` with a function takes many times as long. */
export function bytesOf(base64) {
  const signs = atob(base64);
  const bytes = new Uint8Array(signs.length);
  for (let i = 0; i < signs.length; i++) bytes[i] = signs.charCodeAt(i);
  return bytes;
}
