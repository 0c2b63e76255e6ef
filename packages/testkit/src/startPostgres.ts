import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { lastingPort } from './lastingPort.ts'
import type { CertificateFiles } from './makeCertificates.ts'

const run = promisify(execFile)

/** Owner of the server where the tests run as root, whom PostgreSQL refuses. Debian's package creates this user. */
const UNPRIVILEGED_USER = 'postgres'
const SUPERUSER = 'bezel'
/** Password in the addresses. Servers of tests believe everybody; it is there to be looked for in logs. */
const PASSWORD = 'pg/only-for-tests'
/** Connections that all test processes of a run may have together. */
const MAX_CONNECTIONS = 400
/** Oldest major version that the store is made for. */
const MIN_VERSION = 15

/** The way a server ends: after its clients were cut off, or at once as in a crash. */
type StopMode = 'fast' | 'immediate'

/** A PostgreSQL server of a test: own folder, own port, ended by its own process. */
export interface RunningPostgres {
  readonly port: number
  /** Returns the address of a database, also through a proxy on another port. */
  urlOf(database: string, port?: number): string
  /** Creates an empty database and returns its address. */
  createDatabase(name: string): Promise<string>
  /** Creates an empty database whose tables are below a folder, for a disk of its own. Returns its address. */
  createDatabaseIn(name: string, folder: string): Promise<string>
  /** Runs SQL with psql as the superuser and returns the rows as text, columns separated by `|`. */
  psql(database: string, sql: string): Promise<string>
  /** Runs a program of PostgreSQL, such as pg_dump, and returns its output. */
  program(name: string, ...args: readonly string[]): Promise<string>
  stop(mode?: StopMode): Promise<void>
  /** Starts the server again after `stop`. */
  start(): Promise<void>
  /** Stops the server and deletes its folder. */
  remove(): Promise<void>
}

/** Returns the folder of PostgreSQL's programs, or `undefined` where a version from 15 on is not installed. */
export function findPostgres(): string | undefined {
  const { status, stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  const told = status === 0 ? [stdout.trim()] : []
  const usual = [19, 18, 17, 16, MIN_VERSION].map((version) => `/usr/lib/postgresql/${version}/bin`)
  return [...told, ...usual].find((folder) => existsSync(join(folder, 'initdb')) && majorVersion(folder) >= MIN_VERSION)
}

function majorVersion(folder: string): number {
  const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
  return Number(/(\d+)/.exec(stdout ?? '')?.[1] ?? 0)
}

/**
 * Starts a PostgreSQL server on a free port. With `isDurable` commits reach the disk, which tests of crashes and of
 * speed need; others are faster without. With a certificate it speaks TLS beside plain text. Throws where PostgreSQL is
 * not installed.
 */
export async function startPostgres({
  isDurable = false,
  certificate,
}: { readonly isDurable?: boolean; readonly certificate?: CertificateFiles } = {}): Promise<RunningPostgres> {
  const programs = findPostgres()
  if (programs === undefined) {
    throw new Error(`PostgreSQL ${MIN_VERSION} or newer is not installed: npm run test:postgres installs it`)
  }
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'bezel-pg-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await lastingPort()
  const program = async (name: string, ...args: readonly string[]): Promise<string> =>
    (await run(join(programs, name), args, { ...user, cwd: folder, maxBuffer: 2 ** 28 })).stdout
  await program('initdb', '-D', data, '-A', 'trust', '-U', SUPERUSER, '--locale=C', '--encoding=UTF8', '--no-sync')

  const options = [
    `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`,
    `-c max_connections=${MAX_CONNECTIONS} -c shared_buffers=64MB -c logging_collector=off`,
    certificate === undefined ? '' : tlsOptions(certificate, folder, user),
    isDurable ? '' : '-c fsync=off -c synchronous_commit=off -c full_page_writes=off',
  ].join(' ')
  const start = async (): Promise<void> => {
    await program('pg_ctl', '-D', data, '-w', '-t', '240', '-l', join(folder, 'server.log'), '-o', options, 'start')
  }
  const stop = async (mode: StopMode = 'fast'): Promise<void> => {
    if (isRunning(data)) await program('pg_ctl', '-D', data, '-w', '-t', '240', '-m', mode, 'stop')
  }
  // A test run that ends early must not leave the server behind.
  const endAtExit = (): void => killServer(data)
  process.once('exit', endAtExit)
  await start()

  const urlOf = (database: string, at = port): string =>
    `postgresql://${SUPERUSER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/${database}`
  const psql = (database: string, sql: string): Promise<string> =>
    program('psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-d', urlOf(database), '-c', sql)
  return {
    port,
    urlOf,
    psql,
    program,
    async createDatabase(name) {
      await psql('postgres', `create database ${name}`)
      return urlOf(name)
    },
    async createDatabaseIn(name, place) {
      if (user !== undefined) chownSync(place, user.uid, user.gid)
      await psql('postgres', `create tablespace ${name}_place location '${place}'`)
      await psql('postgres', `create database ${name} tablespace ${name}_place`)
      return urlOf(name)
    },
    start,
    stop,
    async remove() {
      await stop('immediate')
      process.removeListener('exit', endAtExit)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Gives the server a copy of its certificate, whose key nobody else may read, and returns its options. */
function tlsOptions({ cert, key }: CertificateFiles, folder: string, user: ReturnType<typeof serverUser>): string {
  const [ownCert, ownKey] = [join(folder, 'server.crt'), join(folder, 'server.key')]
  copyFileSync(cert, ownCert)
  copyFileSync(key, ownKey)
  chmodSync(ownKey, 0o600)
  if (user !== undefined) for (const file of [ownCert, ownKey]) chownSync(file, user.uid, user.gid)
  return `-c ssl=on -c ssl_cert_file=${ownCert} -c ssl_key_file=${ownKey}`
}

/** Returns the user who runs the server: this one, or for root the one of Debian's package. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number => {
    const { status, stdout } = spawnSync('id', [flag, UNPRIVILEGED_USER], { encoding: 'utf8' })
    if (status === 0) return Number(stdout)
    throw new Error(
      `PostgreSQL does not run as root, and there is no user ${UNPRIVILEGED_USER}: run the tests as a user`,
    )
  }
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Returns the process id of the server, from the first line of the file that it keeps. */
function serverPid(data: string): number | undefined {
  const file = join(data, 'postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

function isRunning(data: string): boolean {
  return serverPid(data) !== undefined
}

function killServer(data: string): void {
  const pid = serverPid(data)
  if (pid === undefined) return
  try {
    process.kill(pid, 'SIGQUIT')
  } catch {
    // The server has ended by itself.
  }
}
