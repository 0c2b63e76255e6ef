import { writeSync } from 'node:fs'
import { openTestAddress } from '../../store/testing/testStore.ts'
import { openNonces } from '../nonces.ts'
import { AGENT, CHAIN } from './testNonces.ts'
import { claimForWrite } from './claimForWrite.ts'

// Claims nonces in a child process, mostly for reads and now and then for a write, and prints each claim, until it is
// killed. Its clock runs fast, so that the file is rotated many times a second.

const CLAIMS_PER_SECOND = 100
const CLAIMS_PER_WRITE = 32
const [address = '', file = '', startMs = ''] = process.argv.slice(2)

let claimed = 0
const now = (): number => Number(startMs) + Math.floor((claimed * 1000) / CLAIMS_PER_SECOND)
const store = openTestAddress(address)
const nonces = await openNonces({ store, file, now })

async function claim(nonce: string, timestampMs: number): Promise<boolean> {
  if (claimed % CLAIMS_PER_WRITE !== 0) return nonces.claim(CHAIN, AGENT, nonce, timestampMs)
  return claimForWrite(nonces, store, CHAIN, AGENT, nonce, timestampMs)
}

/** Prints a line whole, also while the reader of a full pipe is busy. */
function print(line: string): void {
  for (;;) {
    try {
      writeSync(1, line)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') throw error
    }
  }
}

for (;;) {
  const timestampMs = now()
  const nonce = `${startMs}${claimed}`
  if (!(await claim(nonce, timestampMs))) throw new Error(`nonce ${nonce} was refused`)
  print(`${nonce} ${timestampMs}\n`)
  claimed++
}
