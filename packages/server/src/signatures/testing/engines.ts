import { selectEngine } from '../selectEngine.ts'
import { ENGINE_NAMES, type SignatureEngine } from '../signatureEngine.ts'

const loaded = await Promise.all(ENGINE_NAMES.map((name) => selectEngine([name]).catch(() => undefined)))

/** Every engine of this machine. The native one may be missing where it could not be built; the others never. */
export const ENGINES: readonly SignatureEngine[] = loaded.filter((engine) => engine !== undefined)

/** For `describe`: says in the test report that the native engine was not tried. */
export const NATIVE_SKIP = ENGINES.some(({ name }) => name === 'native') ? false : 'native engine is not built here'
