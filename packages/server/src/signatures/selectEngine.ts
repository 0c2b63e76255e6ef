import { loadJsEngine } from './jsEngine.ts'
import { loadNativeEngine } from './nativeEngine.ts'
import { recoversTo } from './recoversTo.ts'
import { ENGINE_NAMES, type EngineName, type SignatureEngine } from './signatureEngine.ts'
import { loadWasmEngine } from './wasmEngine.ts'

const LOADERS: Readonly<Record<EngineName, () => SignatureEngine | Promise<SignatureEngine>>> = {
  native: loadNativeEngine,
  wasm: loadWasmEngine,
  js: loadJsEngine,
}

/** Made with the private key 1. */
const KNOWN_SIGNATURE = {
  digest: Buffer.from('61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a', 'hex'),
  signature:
    '0x6bab647dc484fcc82b7b95792c04174f7455dddb2706b5bbe47cbcf6d93570c4108014c48fe2b10eb930be079cc5513a1b7567e3851604e9420d75c48ff8bec81b',
  address: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
}

/** The first engine that works here: once at start, then passed on. Name only one to force it; throws when none of them works. */
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

/** A build can load and still be wrong for this machine, so a known signature is tried first. */
async function loadEngine(name: EngineName): Promise<SignatureEngine> {
  const engine = await LOADERS[name]()
  if (!recoversTo(engine, KNOWN_SIGNATURE)) throw new Error(`The ${name} engine does not recover a known signature`)
  return engine
}
