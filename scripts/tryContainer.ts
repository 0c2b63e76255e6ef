import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis } from '@bezel/testkit/startRedis.ts'
import { until } from '@bezel/testkit/until.ts'
import { buildConsole } from '../packages/console/build/buildConsole.ts'
import { aptInstall } from './aptInstall.ts'
import { importBaseImage } from './container/importBaseImage.ts'
import { readContainerCommands, type ContainerCommands } from './container/containerCommands.ts'
import { openPodman, type Podman } from './container/podman.ts'
import { writeSetUp } from './container/writeSetUp.ts'
import { installPostgres } from './installPostgres.ts'
import { installRedis } from './installRedis.ts'
import { buildRelease } from './release/buildRelease.ts'

// `npm run try:container` builds the image of a release of this commit and runs a node in it, with the commands of
// docs/operations.md, beside PostgreSQL, Redis and the local chain. It needs root on Debian, installs podman, and keeps
// images and containers in a folder of its own, which it deletes. The exit code is 1 when anything is not as it should.

const ROOT = join(import.meta.dirname, '..')
const NAME = 'bezel-trial'
/** Number of the user in the image. */
const USER = 10_001
/** The time that the page gives a node to stop, in seconds. */
const STOP_SECONDS = 40

await using resources = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'bezel-container-'))
resources.defer(() => rmSync(folder, { recursive: true, force: true }))

install()
const podman = await openPodman(ROOT, folder)
resources.defer(() => podman.reset())
await step('The image below it: Debian with the pinned node', () => importBaseImage(podman, ROOT, folder))
await step('A release of this commit', async () => {
  await buildConsole()
  await buildRelease(ROOT, join(folder, 'release'))
})
const port = await lastingPort()
const commands = readContainerCommands({ folder, name: NAME, port })
await step('PostgreSQL, Redis, the local chain and the set-up', () => startParts())
await step('podman build', () => podman.shell(commands.build))
await step('The node, until it is ready', () => start(podman, commands))
await step('What it may do', () => checkRights(podman))
await step('Its health check, also while it hangs', () => checkHealth(podman))
await step('Its end, and another start on the same data', () => checkStop(podman))
console.log('The image is well.')

/** Does one part of the trial, and says how long it took. */
async function step(what: string, work: () => unknown): Promise<void> {
  const sinceMs = Date.now()
  await work()
  console.log(`${what}: ${((Date.now() - sinceMs) / 1_000).toFixed(1)} s`)
}

function install(): void {
  installPostgres()
  installRedis()
  const missing = ['podman', 'runc', 'debootstrap'].filter((program) => spawnSync('which', [program]).status !== 0)
  const problem = missing.length === 0 ? undefined : aptInstall(missing)
  if (problem !== undefined) throw new Error(`the image can't be tried: ${problem}`)
}

async function startParts(): Promise<void> {
  const chain = await startDevnet()
  resources.defer(() => chain.stop())
  const postgres = await startPostgres()
  resources.defer(() => postgres.remove())
  const redis = await startRedis()
  resources.defer(() => redis.remove())
  const databaseUrl = await postgres.createDatabase('bezel')
  writeSetUp(ROOT, join(folder, 'etc'), { chain: chain.file, databaseUrl, redisUrl: redis.urlOf(), user: USER })
}

async function start(of: Podman, { secrets, run }: ContainerCommands): Promise<void> {
  await of.shell(secrets)
  await of.shell(run)
  resources.defer(async () => void (await of.run('rm', '--force', NAME)))
  await untilReady(of)
}

async function untilReady(of: Podman): Promise<void> {
  await until('the node is ready', async (saw) => {
    const state = await of.run('inspect', '--format', '{{.State.Status}}', NAME)
    if (state !== 'running') throw new Error(`the node ended: ${await of.run('logs', '--tail', '5', NAME)}`)
    const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch((error: unknown) => error as Error)
    saw(answer instanceof Error ? answer.message : await answer.clone().text())
    return answer instanceof Response && answer.status === 200
  })
}

/** The node is nobody, and can write nothing but its data and `/tmp`. */
async function checkRights(of: Podman): Promise<void> {
  const tries = ['/opt/bezel/x', '/etc/bezel/x', '/usr/x', '/var/lib/bezel/x', '/tmp/x'].map(
    (file) => `(touch ${file} && rm ${file} && echo ${file}) 2> /dev/null`,
  )
  const found = await of.run(
    'exec',
    NAME,
    'sh',
    '-c',
    ['id -u', 'grep CapEff /proc/1/status', ...tries].join('; ') + '; true',
  )
  const expected = [`${USER}`, 'CapEff:\t0000000000000000', '/var/lib/bezel/x', '/tmp/x'].join('\n')
  expect('user, rights and places to write', found, expected)
}

async function checkHealth(of: Podman): Promise<void> {
  expect('the health of a node that is well', await of.status('healthcheck', 'run', NAME), 0)
  await of.run('kill', '--signal', 'STOP', NAME)
  expect('the health of a node that hangs', await of.status('healthcheck', 'run', NAME), 1)
  await of.run('kill', '--signal', 'CONT', NAME)
}

async function checkStop(of: Podman): Promise<void> {
  const sinceMs = Date.now()
  await of.run('stop', NAME)
  const seconds = (Date.now() - sinceMs) / 1_000
  const code = await of.run('inspect', '--format', '{{.State.ExitCode}}', NAME)
  expect('the exit code of a node that was stopped', code, '0')
  if (seconds >= STOP_SECONDS) throw new Error(`the node took ${seconds} s to stop`)
  await of.run('start', NAME)
  await untilReady(of)
}

function expect(what: string, found: unknown, expected: unknown): void {
  if (found !== expected)
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
}
