import { checkSignature, ENGINE_NAMES, type EngineName, type SignatureEngine } from './recovery.ts'
import { createRequire } from 'node:module'

/** The used part of the secp256k1 package, which comes without types. */
interface NativeBindings {
  readonly ecdsaRecover: (rs: Uint8Array, recoveryId: number, digest: Uint8Array, isCompressed: boolean) => Uint8Array
}

const LOADERS: Readonly<Record<EngineName, () => SignatureEngine | Promise<SignatureEngine>>> = {
  native: loadNativeEngine,
  wasm: loadWasmEngine,
  js: loadJsEngine,
}

/** A signature by the private key 1. */
const KNOWN_SIGNATURE = {
  digest: Buffer.from('61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a', 'hex'),
  signature:
    '0x6bab647dc484fcc82b7b95792c04174f7455dddb2706b5bbe47cbcf6d93570c4108014c48fe2b10eb930be079cc5513a1b7567e3851604e9420d75c48ff8bec81b',
  address: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
}

/**
 * Loads the first engine that works on this machine. Pass a single name to force that engine. Throws when none works.
 */
export async function selectEngine(names: readonly EngineName[] = ENGINE_NAMES): Promise<SignatureEngine> {
  const failures: unknown[] = []
  for (const name of names) {
    try {
      return await loadEngine(name)
    } catch (error) {
      failures.push(error)
    }
  }
  throw new AggregateError(failures, `No signature engine works here; tried: ${names.join(', ')}`)
}

/** Loads an engine and tries it on a known signature, because a build can load and still be wrong for this machine. */
async function loadEngine(name: EngineName): Promise<SignatureEngine> {
  const engine = await LOADERS[name]()
  const { isValid } = checkSignature(engine, KNOWN_SIGNATURE)
  if (!isValid) throw new Error(`The ${name} engine does not recover a known signature`)
  return engine
}

/** Loads libsecp256k1 as native code. Throws when the package has no build for this machine. */
function loadNativeEngine(): SignatureEngine {
  // The bindings are required by name, because the package's main file silently falls back to slow JavaScript.
  const { ecdsaRecover } = createRequire(import.meta.url)('secp256k1/bindings') as NativeBindings
  return {
    name: 'native',
    recoverPublicKey: (digest, rs, recoveryId) => ecdsaRecover(rs, recoveryId, digest, false),
  }
}

/** Loads libsecp256k1 as WebAssembly. Throws when there is no WebAssembly. */
async function loadWasmEngine(): Promise<SignatureEngine> {
  // Imports the module's own file, because the package's index also starts four hash functions and takes four times as
  // long.
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  const { recoverPublicKeyUncompressed } = await instantiateSecp256k1()
  return {
    name: 'wasm',
    recoverPublicKey: (digest, rs, recoveryId) => {
      const key = recoverPublicKeyUncompressed(rs, recoveryId, digest)
      return typeof key === 'string' ? undefined : key
    },
  }
}

/** Loads the plain JavaScript engine, which works everywhere. */
async function loadJsEngine(): Promise<SignatureEngine> {
  const { secp256k1 } = await import('@noble/curves/secp256k1')
  return {
    name: 'js',
    recoverPublicKey: (digest, rs, recoveryId) =>
      secp256k1.Signature.fromCompact(rs).addRecoveryBit(recoveryId).recoverPublicKey(digest).toRawBytes(false),
  }
}
