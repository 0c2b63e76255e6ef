import { existsSync } from 'node:fs'
import { aptInstall } from './aptInstall.ts'

/** Paths at which distributions install Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium']

/** The path of a browser, or the reason why there is none. */
export type Chromium = { readonly path: string } | { readonly problem: string }

/** Finds the Chromium of this machine. Installs it first on a machine that has none and may install one. */
export function installChromium(): Chromium {
  const found = PLACES.find((path) => existsSync(path))
  if (found !== undefined) return { path: found }
  const problem = aptInstall(['chromium'])
  if (problem !== undefined) return { problem: `there is no Chromium here: ${problem}` }
  const installed = PLACES.find((path) => existsSync(path))
  return installed === undefined
    ? { problem: 'apt-get installed chromium, but it is in none of the usual places' }
    : { path: installed }
}
