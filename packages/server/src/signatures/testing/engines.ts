import { selectEngine } from '../engines.ts'
import { ENGINE_NAMES, type SignatureEngine } from '../recovery.ts'

const loaded = await Promise.all(ENGINE_NAMES.map((name) => selectEngine([name]).catch(() => undefined)))

/** Every engine that works on this machine. Only the native one may be missing, where it could not be built. */
export const ENGINES: readonly SignatureEngine[] = loaded.filter((engine) => engine !== undefined)

/** `skip` option for `describe`, so that the test report says when the native engine was not tested. */
export const NATIVE_SKIP = ENGINES.some(({ name }) => name === 'native') ? false : 'native engine is not built here'
