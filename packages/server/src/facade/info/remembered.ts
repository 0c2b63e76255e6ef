import type { FacadeReads } from '../facadeReads.ts'

/** Text and bytes of an answer: either is made once. */
export interface ReadyAnswer {
  readonly text: string
  readonly bytes: Buffer
}

interface Known extends ReadyAnswer {
  readonly version: string
}

/** Makes an answer anew only when what it is made from has changed: many readers, one making for each change. */
export function remembered(
  versionOf: (reads: FacadeReads) => string,
  make: (reads: FacadeReads) => string,
): (reads: FacadeReads) => ReadyAnswer {
  const byChain = new WeakMap<FacadeReads, Known>()
  return (reads) => {
    const version = versionOf(reads)
    const known = byChain.get(reads)
    if (known?.version === version) return known
    const text = make(reads)
    const made = { version, text, bytes: Buffer.from(text) }
    byChain.set(reads, made)
    return made
  }
}
