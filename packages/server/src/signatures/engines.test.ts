import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createRequire, registerHooks } from 'node:module'
import { describe, it } from 'node:test'
import { selectEngine } from './engines.ts'
import { NATIVE_SKIP } from './testing/engines.ts'

/** Sources that stand in for the native bindings: states they may be in on some machine. */
const BINDINGS = {
  notBuilt: `throw new Error('No native build was found')`,
  wrong: `module.exports = { ecdsaRecover: () => new Uint8Array(65).fill(4) }`,
  broken: `module.exports = { ecdsaRecover: () => { throw new Error('Illegal instruction') } }`,
  empty: `module.exports = {}`,
} as const

const FAKE_URL = new URL('./fake-bindings.cjs', import.meta.url).href
const loadedModules = createRequire(import.meta.url).cache

/** Removes the bindings from the module cache, so that others can take their place. */
function forgetBindings(): void {
  for (const path of Object.keys(loadedModules)) {
    if (path.endsWith('bindings.js') || path.endsWith('bindings.cjs')) delete loadedModules[path]
  }
}

/** Replaces the bindings by `source` while `work` runs. */
async function withBindings<T>(source: string, work: () => Promise<T>): Promise<T> {
  forgetBindings()
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'secp256k1/bindings'
        ? { url: FAKE_URL, format: 'commonjs', shortCircuit: true }
        : next(specifier, context),
    load: (address, context, next) =>
      address === FAKE_URL ? { format: 'commonjs', source, shortCircuit: true } : next(address, context),
  })
  try {
    return await work()
  } finally {
    hooks.deregister()
    forgetBindings()
  }
}

describe('selectEngine', () => {
  it('takes the native engine where it is built', { skip: NATIVE_SKIP }, async () => {
    assert.equal((await selectEngine()).name, 'native')
  })

  it('takes the engine that is asked for', async () => {
    assert.equal((await selectEngine(['wasm'])).name, 'wasm')
    assert.equal((await selectEngine(['js'])).name, 'js')
    assert.equal((await selectEngine(['js', 'wasm'])).name, 'js')
  })

  for (const [state, source] of Object.entries(BINDINGS)) {
    it(`takes the next one when the native part is ${state}`, async () => {
      assert.equal((await withBindings(source, () => selectEngine())).name, 'wasm')
    })
  }

  it('takes no native engine from a package without a build, which would be JavaScript', () => {
    const url = new URL('./engines.ts', import.meta.url).href
    const program = `import { selectEngine } from '${url}'; console.log((await selectEngine()).name)`
    // Makes the package look for a build for an architecture that does not exist.
    const env = { PATH: process.env['PATH'], PREBUILDS_ONLY: '1', npm_config_arch: 'none' }
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { env, encoding: 'utf8' })
    assert.equal(printed.trim(), 'wasm')
  })

  it('takes the native engine again after that', { skip: NATIVE_SKIP }, async () => {
    assert.equal((await selectEngine()).name, 'native')
  })

  it('refuses to take another engine than the one forced, and says why', async () => {
    const forced = withBindings(BINDINGS.notBuilt, () => selectEngine(['native']))
    await assert.rejects(forced, (error) => {
      assert.ok(error instanceof AggregateError)
      assert.match(error.message, /No signature engine works here; tried: native/)
      assert.match(String(error.errors), /No native build was found/)
      return true
    })
  })

  it('says so when the forced engine recovers something else', async () => {
    const forced = withBindings(BINDINGS.wrong, () => selectEngine(['native']))
    await assert.rejects(forced, (error) => {
      assert.match(String((error as AggregateError).errors), /native engine does not recover a known signature/)
      return true
    })
  })
})
