import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

interface LockedPackage {
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

const ROOT = new URL('../', import.meta.url)
const readJson = (name: string): unknown => JSON.parse(readFileSync(new URL(name, ROOT), 'utf8'))
const { packages } = readJson('package-lock.json') as { readonly packages: Readonly<Record<string, LockedPackage>> }

/** Lists the packages of a lockfile that have install scripts, by name. */
function withInstallScripts(locked: Readonly<Record<string, LockedPackage>>): string[] {
  const found = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  return found.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)).toSorted()
}

describe('install scripts', () => {
  it('are on one of the two lists, and nothing else is', () => {
    const { run, skip } = readJson('scripts/installScripts.json') as Record<'run' | 'skip', Record<string, string>>
    const listed = Object.keys({ ...run, ...skip })
    assert.deepEqual(withInstallScripts(packages), listed.toSorted())
  })

  it('are in no package of the generators that npm run clients installs', () => {
    const { packages: generators } = readJson('e2e/generatedClients/package-lock.json') as { packages: typeof packages }
    assert.ok(Object.keys(generators).length > 10)
    assert.deepEqual(withInstallScripts(generators), [])
  })

  it('would be found in a package that is new, at any depth', () => {
    const planted = { ...packages, 'node_modules/ws/node_modules/@evil/miner': { hasInstallScript: true } }
    assert.ok(withInstallScripts(planted).includes('@evil/miner'))
  })

  it('are never switched off by .npmrc, which would switch off ours too', () => {
    assert.doesNotMatch(readFileSync(new URL('.npmrc', ROOT), 'utf8'), /ignore-scripts/)
  })
})

describe('npm run sbom', () => {
  it('lists every package that the service needs', () => {
    const { scripts } = readJson('package.json') as { readonly scripts: Readonly<Record<string, string>> }
    const [command, file] = scripts.sbom!.split(' > ')
    assert.equal(file, 'bezel.cdx.json')
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command!], { cwd: ROOT, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: { purl: string }[] }
    assert.equal(bomFormat, 'CycloneDX')
    const names = new Set(components.map(({ purl }) => decodeURIComponent(purl).replace(/^pkg:npm\/(.+)@[^@]+$/, '$1')))
    // The packages that these need in turn have been seen to go missing under `--omit=dev`.
    const needed = [
      '@bezel/server',
      'secp256k1',
      'elliptic',
      'ajv',
      ...Object.keys(packages['packages/server']!.dependencies!),
    ]
    assert.deepEqual(
      needed.filter((name) => !names.has(name)),
      [],
    )
  })
})
