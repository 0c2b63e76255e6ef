import { existsSync } from 'node:fs'
import { aptInstall } from './aptInstall.ts'

/** Chromium without a window, of the same source: a page costs it a third less. */
const WINDOWLESS = '/usr/bin/chromium-headless-shell'
/** Paths at which distributions install Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium']

/** The path of a browser, or the reason why there is none. */
export type Chromium = { readonly path: string } | { readonly problem: string }

/**
 * Finds the Chromium of this machine, best the one without a window. Installs it first on a machine that has none and
 * may install one.
 */
export function installChromium(): Chromium {
  if (existsSync(WINDOWLESS)) return { path: WINDOWLESS }
  const other = PLACES.find((path) => existsSync(path))
  const problem = aptInstall(['chromium-headless-shell'])
  if (problem === undefined && existsSync(WINDOWLESS)) return { path: WINDOWLESS }
  if (other !== undefined) return { path: other }
  return { problem: `there is no Chromium here: ${problem ?? `apt-get did not put it at ${WINDOWLESS}`}` }
}
