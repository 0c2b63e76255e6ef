import { spawnSync } from 'node:child_process'
import { aptInstall } from './aptInstall.ts'

/** Commands that may be a Python with the packages; the second is that of the distribution. */
const COMMANDS = ['python3', '/usr/bin/python3']

/** Debian's packages of what the Python client needs, and of the type checker. */
const PACKAGES = ['python3-pycryptodome', 'python3-ecdsa', 'python3-websockets', 'mypy']

/** Imports what the client needs, under the names of Debian and of everybody else. */
const NEEDS = [
  'import ecdsa, mypy, sys, websockets',
  'try: import Crypto.Hash.keccak',
  'except ImportError: import Cryptodome.Hash.keccak',
  'sys.exit(0 if sys.version_info >= (3, 11) else 1)',
].join('\n')

/**
 * The command of a Python with the client's packages; `missing` when there is no Python at all, which is the one reason
 * to skip its tests.
 */
export type Python = { readonly command: string } | { readonly missing: string }

/** Finds a Python for the tests of the client. Installs the packages first on a machine that may install some. */
export function installPython(): Python {
  const present = COMMANDS.filter((command) => runs(command, 'pass'))
  if (present.length === 0) return { missing: 'there is no python3 here' }
  const ready = present.find((command) => runs(command, NEEDS))
  if (ready !== undefined) return { command: ready }
  const problem = aptInstall(PACKAGES)
  const installed = COMMANDS.find((command) => runs(command, NEEDS))
  if (installed !== undefined) return { command: installed }
  throw new Error(
    `the tests of the Python client need Python 3.11 or newer with pycryptodome, ecdsa, websockets and mypy: ${problem ?? 'the packages were installed, but no python3 finds them'}`,
  )
}

function runs(command: string, program: string): boolean {
  return spawnSync(command, ['-c', program], { stdio: 'ignore' }).status === 0
}
