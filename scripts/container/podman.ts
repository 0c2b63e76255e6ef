import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'

const runFile = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** Podman with images and containers of its own, below one folder. */
export interface Podman {
  /** Runs podman with these words. Returns what it prints; throws when it fails. */
  run(...words: readonly string[]): Promise<string>
  /** Runs podman, and returns its exit code. */
  status(...words: readonly string[]): Promise<number>
  /** Runs commands of a shell, in the project's folder, for which `podman` is this one. */
  shell(commands: string): Promise<string>
  /** Deletes all containers, volumes, secrets and images. */
  reset(): Promise<void>
}

export async function openPodman(root: string, folder: string): Promise<Podman> {
  const programs = join(folder, 'bin')
  mkdirSync(programs)
  const places = ['root', 'runroot', 'tmpdir'].map((place) => `--${place}=${join(folder, 'podman', place)}`)
  const program = join(programs, 'podman')
  const words = [...places, '--cgroup-manager=cgroupfs', '--events-backend=file', '--runtime=runc']
  writeFileSync(program, `#!/bin/sh\nexec /usr/bin/podman ${words.join(' ')} "$@"\n`)
  chmodSync(program, 0o700)
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` }

  async function start(file: string, args: readonly string[]): Promise<string> {
    const { stdout } = await runFile(file, args, { cwd: root, env, maxBuffer: MAX_OUTPUT_BYTES })
    return stdout.trim()
  }

  const podman: Podman = {
    run: (...args) => start(program, args),
    async status(...args) {
      try {
        await start(program, args)
        return 0
      } catch (error) {
        return Number((error as { readonly code?: unknown }).code)
      }
    },
    shell: (commands) => start('bash', ['-e', '-o', 'pipefail', '-c', commands]),
    reset: async () => void (await start(program, ['system', 'reset', '--force'])),
  }
  await podman.run('info')
  return podman
}
