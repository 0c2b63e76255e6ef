// Signs requests as agent-1 of the sandbox, whose key everybody can compute. The signer is small and makes no effort to
// hide its key: never use it for a key that is worth something.

const PRIME = 2n ** 256n - 2n ** 32n - 977n
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const GENERATOR = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
]

const encoder = new TextEncoder()

/** Returns the private key of an account of the sandbox, which follows from its name. */
export function sandboxKey(name) {
  return keccak256(encoder.encode(`bezel devnet account ${name}`))
}

/** Returns the signature of a request, as `signing` of the chain's information describes it, as 0x text. */
export function signRequest(key, signing, request) {
  return sign(digestOf(signing, request), key)
}

/** Returns the EIP-712 digest of a request: domain, operation, method, path, body, timestamp and nonce. */
export function digestOf({ domain, fields }, { operationId, method, path, body = '', timestamp, nonce }) {
  const bodyHash = hexOf(keccak256(encoder.encode(body)))
  const struct = structHash(operationId, fields, { method, path, bodyHash, timestamp, nonce })
  return keccak256(joined(Uint8Array.of(0x19, 0x01), structHash('EIP712Domain', DOMAIN_FIELDS, domain), struct))
}

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

function structHash(name, fields, values) {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`
  const words = fields.map((field) =>
    field.type === 'string' ? keccak256(encoder.encode(values[field.name])) : word(BigInt(values[field.name])),
  )
  return keccak256(joined(keccak256(encoder.encode(type)), ...words))
}

/** Signs a digest by ECDSA over secp256k1, with the smaller s and the recovery id at the end. */
function sign(digest, key) {
  const secret = numberOf(key)
  const hash = numberOf(digest)
  for (;;) {
    const salt = crypto.getRandomValues(new Uint8Array(32))
    const once = numberOf(keccak256(joined(key, digest, salt))) % ORDER
    const [x, y] = multiply(once)
    const r = x % ORDER
    const s = (inverse(once, ORDER) * (hash + r * secret)) % ORDER
    if (r === 0n || s === 0n || x >= ORDER) continue
    const isHigh = s > ORDER / 2n
    const parity = Number(y & 1n) ^ (isHigh ? 1 : 0)
    return hexOf(joined(word(r), word(isHigh ? ORDER - s : s), Uint8Array.of(27 + parity)))
  }
}

function multiply(scalar) {
  let sum
  let power = GENERATOR
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = sum === undefined ? power : add(sum, power)
    power = add(power, power)
  }
  return sum
}

/** Adds two points that are not opposite to each other. */
function add([x1, y1], [x2, y2]) {
  const slope = x1 === x2 ? 3n * x1 * x1 * inverse(2n * y1, PRIME) : (y2 - y1) * inverse(x2 - x1, PRIME)
  const x = mod(slope * slope - x1 - x2, PRIME)
  return [x, mod(slope * (x1 - x) - y1, PRIME)]
}

/** Returns the inverse by the extended Euclidean algorithm. */
function inverse(value, modulus) {
  let [a, b] = [mod(value, modulus), modulus]
  let [x, y] = [1n, 0n]
  while (b > 0n) {
    const quotient = a / b
    ;[a, b] = [b, a % b]
    ;[x, y] = [y, x - quotient * y]
  }
  return mod(x, modulus)
}

function mod(value, modulus) {
  const rest = value % modulus
  return rest < 0n ? rest + modulus : rest
}

const RATE = 136
const LANE = (1n << 64n) - 1n

/** Offsets of the rotations and the order of the lanes in the steps rho and pi of Keccak. */
const ROTATIONS = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44]
const LANES = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1]

/** Returns the keccak256 hash of bytes. */
export function keccak256(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / RATE) * RATE)
  padded.set(bytes)
  padded[bytes.length] ^= 0x01
  padded[padded.length - 1] ^= 0x80
  const view = new DataView(padded.buffer)
  const state = Array.from({ length: 25 }, () => 0n)
  for (let at = 0; at < padded.length; at += RATE) {
    for (let lane = 0; lane < RATE / 8; lane += 1) state[lane] ^= view.getBigUint64(at + lane * 8, true)
    permute(state)
  }
  const hash = new DataView(new ArrayBuffer(32))
  for (let lane = 0; lane < 4; lane += 1) hash.setBigUint64(lane * 8, state[lane], true)
  return new Uint8Array(hash.buffer)
}

function permute(state) {
  let register = 1
  for (let round = 0; round < 24; round += 1) {
    const columns = [0, 1, 2, 3, 4].map((x) => state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20])
    for (let lane = 0; lane < 25; lane += 1) {
      const x = lane % 5
      state[lane] ^= columns[(x + 4) % 5] ^ rotated(columns[(x + 1) % 5], 1)
    }
    let moved = state[1]
    for (let step = 0; step < 24; step += 1) {
      const lane = LANES[step]
      ;[moved, state[lane]] = [state[lane], rotated(moved, ROTATIONS[step])]
    }
    for (let row = 0; row < 25; row += 5) {
      const old = state.slice(row, row + 5)
      for (let x = 0; x < 5; x += 1) state[row + x] = old[x] ^ (~old[(x + 1) % 5] & LANE & old[(x + 2) % 5])
    }
    // The round constant is made by a shift register of eight bits.
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) state[0] ^= 1n << BigInt(2 ** bit - 1)
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1
    }
  }
}

function rotated(lane, by) {
  return ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & LANE
}

function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Returns a number as 32 bytes. */
function word(value) {
  return Uint8Array.from(value.toString(16).padStart(64, '0').match(/../g), (pair) => Number.parseInt(pair, 16))
}

function numberOf(bytes) {
  return BigInt(hexOf(bytes))
}

function hexOf(bytes) {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
