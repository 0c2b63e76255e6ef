import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import process from 'node:process'

/** Paths at which distributions install Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium']

/** The path of a browser, or the reason why there is none. */
export type Chromium = { readonly path: string } | { readonly problem: string }

/**
 * Finds the Chromium of this machine. Installs it first on a machine that has none and may install one (root, apt),
 * such as a test machine.
 */
export function installChromium(): Chromium {
  const found = PLACES.find((path) => existsSync(path))
  if (found !== undefined) return { path: found }
  const isRoot = process.getuid?.() === 0
  if (!isRoot || !existsSync('/usr/bin/apt-get')) {
    return { problem: 'there is no Chromium here, and only root can install one (apt-get install chromium)' }
  }
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', 'chromium'],
  ]) {
    const { status, stderr } = spawnSync('apt-get', args, {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (status !== 0) return { problem: `apt-get ${args[0]} ended with ${status}: ${stderr.trim().slice(-300)}` }
  }
  const installed = PLACES.find((path) => existsSync(path))
  return installed === undefined
    ? { problem: 'apt-get installed chromium, but it is in none of the usual places' }
    : { path: installed }
}
