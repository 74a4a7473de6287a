// HMAC with SHA-256, in hand-written form: browsers offer theirs to pages that came by TLS, and a file did not.

const { BEGIN, ROUND } = (() => {
  const bits = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  return { BEGIN: primes.slice(0, 8).map((p) => bits(Math.sqrt(p))), ROUND: primes.map((p) => bits(Math.cbrt(p))) };
})();

function sha256(bytes) {
  const long = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  long.set(bytes);
  long[bytes.length] = 0x80;
  const view = new DataView(long.buffer), state = [...BEGIN], w = new Int32Array(64);
  view.setUint32(long.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(long.length - 4, (bytes.length * 8) >>> 0);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < long.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => { state[i] = (state[i] + x) | 0; });
  }
  const made = new DataView(new ArrayBuffer(32));
  state.forEach((x, i) => made.setInt32(4 * i, x));
  return new Uint8Array(made.buffer);
}

// The key as hexadecimal digits (32 bytes), the text as it is; the result as hexadecimal digits.
function hmac(key, text) {
  const said = new TextEncoder().encode(text), block = new Uint8Array(64);
  key.match(/../g).forEach((pair, i) => { block[i] = Number.parseInt(pair, 16); });
  const inner = new Uint8Array(64 + said.length), outer = new Uint8Array(96);
  inner.set(block.map((b) => b ^ 0x36));
  inner.set(said, 64);
  outer.set(block.map((b) => b ^ 0x5c));
  outer.set(sha256(inner), 64);
  return [...sha256(outer)].map((b) => b.toString(16).padStart(2, "0")).join("");
}
