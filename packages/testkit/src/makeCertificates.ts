import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The files of a certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** Authorities and certificates of a test, in a folder of their own. */
export interface TestCertificates {
  /** Path of an authority's certificate. It signs everything that `issue` makes. */
  readonly ca: string
  /** Path of the certificate of another authority, which signed nothing. */
  readonly otherCa: string
  /** Makes a certificate for these names, written as `DNS:db.example` or `IP:127.0.0.1`. */
  issue(name: string, ...names: readonly string[]): CertificateFiles
  remove(): void
}

/** Makes two authorities with openssl. */
export function makeCertificates(): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-certificates-'))
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  }
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const fresh = (name: string): readonly string[] => [...newKey, '-keyout', `${name}.key`, '-subj', `/CN=${name}`]
  const authority = (name: string): string => {
    openssl('req', '-x509', ...fresh(name), '-out', `${name}.pem`, '-days', '2')
    return join(folder, `${name}.pem`)
  }
  const [ca, otherCa] = [authority('authority'), authority('other')]
  return {
    ca,
    otherCa,
    issue(name, ...names) {
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names.join(',')}\n`)
      openssl('req', '-new', ...fresh(name), '-out', `${name}.csr`)
      const signedBy = ['-CA', ca, '-CAkey', 'authority.key', '-CAcreateserial']
      openssl(
        'x509',
        '-req',
        '-in',
        `${name}.csr`,
        ...signedBy,
        '-out',
        `${name}.pem`,
        '-days',
        '2',
        '-extfile',
        `${name}.ext`,
      )
      return { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
