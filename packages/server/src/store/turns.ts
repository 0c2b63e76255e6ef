/** A key that one holder has alone, or that several share. */
export interface Claim {
  readonly key: string
  readonly isShared: boolean
}

export interface Turns {
  /**
   * Waits until all claims can be held, and calls `onTurn` with a function that gives them back. They are taken one
   * after the other, in their order, each first come, first served. Returns a function that ends the wait, and gives
   * back what is held, because the turn may have come in the same moment.
   */
  wait(claims: readonly Claim[], onTurn: (giveBack: () => void) => void): () => void
}

interface Line {
  /** Number of holders who share the key; -1 when one has it alone. */
  holders: number
  readonly waiting: { readonly isShared: boolean; readonly enter: () => void }[]
}

/**
 * Orders the transactions of this process: those that exclude each other run in the order in which they came, and the
 * next begins only when the last has been told. Locks of the database do the same between processes, but the answer to
 * a commit can arrive after that of the one that waited for it.
 */
export function createTurns(): Turns {
  const lines = new Map<string, Line>()

  function lineOf(key: string): Line {
    const known = lines.get(key)
    if (known !== undefined) return known
    const made: Line = { holders: 0, waiting: [] }
    lines.set(key, made)
    return made
  }

  /** Lets in whoever is first, and with one who shares all that share and follow directly. */
  function admit(key: string): void {
    const line = lineOf(key)
    for (let next = line.waiting[0]; next !== undefined; next = line.waiting[0]) {
      if (next.isShared ? line.holders < 0 : line.holders !== 0) break
      line.waiting.shift()
      line.holders = next.isShared ? line.holders + 1 : -1
      next.enter()
    }
    if (line.holders === 0 && line.waiting.length === 0 && lines.get(key) === line) lines.delete(key)
  }

  function leave({ key, isShared }: Claim): void {
    const line = lineOf(key)
    line.holders = isShared ? line.holders - 1 : 0
    admit(key)
  }

  return {
    wait(claims, onTurn) {
      const held: Claim[] = []
      let isOver = false
      let leaveLine = (): void => undefined
      const giveBack = (): void => {
        for (const claim of held.splice(0).toReversed()) leave(claim)
      }
      const takeNext = (): void => {
        const claim = claims[held.length]
        if (claim === undefined) {
          isOver = true
          return onTurn(giveBack)
        }
        const entry = {
          isShared: claim.isShared,
          enter: () => {
            held.push(claim)
            takeNext()
          },
        }
        const { waiting } = lineOf(claim.key)
        waiting.push(entry)
        leaveLine = () => {
          const at = waiting.indexOf(entry)
          if (at >= 0) waiting.splice(at, 1)
          admit(claim.key)
        }
        admit(claim.key)
      }
      takeNext()
      return () => {
        if (!isOver) {
          isOver = true
          leaveLine()
        }
        giveBack()
      }
    },
  }
}
