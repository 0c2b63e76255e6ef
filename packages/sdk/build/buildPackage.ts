import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { emitTypes } from './emitTypes.ts'

const SDK = join(import.meta.dirname, '..')
const ROOT = join(SDK, '..', '..')

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly peerDependencies: Readonly<Record<string, string>>
}

/**
 * Writes the SDK into `folder` as other projects install it: one ES module for node and browsers that includes the
 * parts of the protocol it uses, its declarations, and viem as the only peer. The previous content of the folder is
 * deleted.
 */
export async function buildPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = readManifest()
  const external = Object.keys(manifest.peerDependencies)
  await build({
    entryPoints: [join(SDK, 'src', 'index.ts')],
    outfile: join(folder, 'index.js'),
    bundle: true,
    format: 'esm',
    // Neutral, so that an import which only node has is an error.
    platform: 'neutral',
    target: 'es2022',
    external,
    sourcemap: true,
    logLevel: 'error',
  })
  await emitTypes(join(folder, 'types'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packageOf(manifest), undefined, 2)}\n`)
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(SDK, 'README.md'), join(folder, 'README.md'))
}

/** Returns the peers of the package as npm takes them, each in the version that it is tested with. */
export function testedPeers(): string[] {
  const peers = Object.entries(readManifest().peerDependencies)
  return peers.map(([name, range]) => `${name}@${range.replace('^', '')}`)
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8')) as Manifest
}

function packageOf({ name, version, license, peerDependencies }: Manifest): object {
  return {
    name,
    version,
    description:
      'Client of Bezel, the open non-custodial trading service: orders that are verified before they are signed, and streams that resume',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    files: ['index.js', 'index.js.map', 'types'],
    exports: { '.': { types: './types/index.d.ts', default: './index.js' }, './package.json': './package.json' },
    types: './types/index.d.ts',
    peerDependencies,
  }
}
