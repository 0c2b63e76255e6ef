import type { Hex } from '@bezel/protocol'
import { hashAt, type ComparedBlock, type Followed, type Member, type Send } from './member.ts'

/** The agreement of the providers of a chain about final blocks. One that has another block is cut off. */
export interface Agreement {
  /** Resolves to true when a second provider has this final block of the follower too, or there is no second one. */
  confirm(block: ComparedBlock): Promise<boolean>
  /** Compares the disputed block again, also while the follower stands still: who agrees now is asked again. */
  settle(): Promise<void>
}

/** A block that was not the same everywhere, and the last word of each provider. */
interface Dispute {
  readonly block: ComparedBlock
  /** The provider that was followed when the block was named: the block is its word. */
  readonly by: Member
  readonly words: readonly (Hex | undefined)[]
}

export function createAgreement(members: readonly Member[], send: Send, followed: Followed): Agreement {
  let dispute: Dispute | undefined

  /** Returns the number of providers that have the block. The last word of one that does not answer still counts. */
  async function compare({ block, by, words: before }: Dispute): Promise<number> {
    const answers = await Promise.all(members.map((member) => hashAt(member, block.number, send)))
    const words = answers.map((hash, at) => hash ?? before[at])
    const right = rightOf(block, words)
    const own = answers[members.indexOf(by)]
    if (right === block.hash && own !== undefined && own !== right) return withdraw(block)
    for (const [at, hash] of answers.entries()) {
      if (hash !== undefined) members[at]!.health.setDiffers(hash === right ? undefined : reasonOf(block))
    }
    if (words.some((hash) => hash !== undefined && hash !== right)) dispute = { block, by, words }
    else if (members.every(({ health }) => health.state() !== 'differs')) dispute = undefined
    return words.filter((hash) => hash === block.hash).length
  }

  /** Judges nobody by a block that the one who named it does not have itself: behind its address are several nodes. */
  function withdraw({ hash }: ComparedBlock): number {
    if (dispute?.block.hash === hash) {
      dispute = undefined
      for (const { health } of members) health.setDiffers(undefined)
    }
    return 0
  }

  return {
    confirm: async (block) => members.length === 1 || (await compare({ block, by: followed.member, words: [] })) >= 2,
    async settle() {
      if (dispute !== undefined) await compare(dispute)
    },
  }
}

/** Returns the hash that most have; that of the follower unless two others or more are against it. */
function rightOf({ hash }: ComparedBlock, words: readonly (Hex | undefined)[]): Hex {
  const votes = (of: Hex): number => words.filter((word) => word === of).length
  let [right, most] = [hash, Math.max(1, votes(hash))]
  for (const word of words) {
    if (word !== undefined && votes(word) > most) [right, most] = [word, votes(word)]
  }
  return right
}

function reasonOf({ number }: ComparedBlock): string {
  return `it has another block ${number}, which is final on the others`
}
