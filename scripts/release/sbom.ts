import { createHash } from 'node:crypto'
import type { LockedPackage } from './lockedPackages.ts'

/** The release that a list of parts is of. */
export interface ReleaseInfo {
  readonly version: string
  /** Hash of the commit. */
  readonly commit: string
  /** Time of the commit, epoch seconds. */
  readonly committedSeconds: number
}

/** A package, and where in the archive it is. */
export interface Part extends LockedPackage {
  readonly place: 'service' | 'console'
}

/**
 * Returns the list of all packages in an archive, in CycloneDX 1.5. It is made from the lockfile, so it names exactly
 * what was packed, with the digests under which the registry published it; the time is that of the commit.
 */
export function sbomOf(info: ReleaseInfo, parts: readonly Part[]): object {
  const { version, commit, committedSeconds } = info
  const digest = createHash('sha256').update(`bezel ${version} ${commit}`).digest('hex')
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(digest)}`,
    version: 1,
    metadata: {
      timestamp: new Date(committedSeconds * 1_000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': `bezel@${version}`,
        name: 'bezel',
        version,
        purl: `pkg:npm/bezel@${version}`,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: 'bezel:commit', value: commit }],
      },
    },
    components: parts.map(componentOf),
  }
}

/** Makes a UUID of version 8, which leaves the bits to its maker. */
function uuidOf(hex: string): string {
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}

function componentOf({ name, version = '', license, integrity, folder, place }: Part): object {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return {
    type: 'library',
    'bom-ref': `${folder} (${place})`,
    name,
    version,
    purl,
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
    properties: [{ name: 'bezel:place', value: place }],
  }
}

/** Returns a digest of npm, such as `sha512-…` in base64, as CycloneDX writes it. */
function hashOf(integrity: string): { readonly alg: string; readonly content: string } {
  const [algorithm = '', digest = ''] = integrity.split('-')
  return { alg: algorithm.toUpperCase().replace('SHA', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }
}
