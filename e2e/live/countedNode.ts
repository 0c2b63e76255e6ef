import { diamondAbi } from '@bezel/protocol'
import { decodeFunctionData, toFunctionSelector, type AbiFunction, type ContractFunctionName, type Hex } from 'viem'
import { startFaultyProxy, type FaultyProxy, type Lie } from '../outages/faultyProxy.ts'

/** A node behind a proxy that counts what it is asked for, and can keep a request back. */
export interface CountedNode extends Pick<FaultyProxy, 'url' | 'close'> {
  /** Number of calls in each batch so far. */
  readonly batches: readonly number[]
  /** The calls of each batch so far. */
  readonly asked: readonly (readonly AskedCall[])[]
  /** Keeps back the next batch with a wanted call of this view of the Diamond, on its way to the node. */
  keepBack(view: ViewName, isWanted?: IsWanted): KeptBack
}

/** A call to the node. */
export interface AskedCall {
  readonly method: string
  readonly params: readonly unknown[]
}

type ViewName = ContractFunctionName<typeof diamondAbi, 'view'>

type IsWanted = (args: readonly unknown[]) => boolean

interface KeptBack {
  /** Resolves when the batch was sent, with the arguments of the call. */
  readonly sent: Promise<readonly unknown[]>
  letGo(): void
}

interface Waited {
  readonly selector: Hex
  readonly isWanted: IsWanted
  readonly sent: (args: readonly unknown[]) => void
  readonly gone: Promise<void>
}

export async function startCountedNode(target: string): Promise<CountedNode> {
  const proxy = await startFaultyProxy(target)
  const open = new Set<() => void>()
  const batches: number[] = []
  const everything: (readonly AskedCall[])[] = []
  let waited: Waited | undefined

  const pass: Lie = async (asked, honest) => {
    const calls = [JSON.parse(asked) as AskedCall | readonly AskedCall[]].flat()
    batches.push(calls.length)
    everything.push(calls)
    const args = waited && argumentsIn(asked, waited.selector)
    if (waited !== undefined && args !== undefined && waited.isWanted(args)) {
      const { sent, gone } = waited
      waited = undefined
      sent(args)
      await gone
    }
    return { text: await honest() }
  }
  proxy.fault = { kind: 'lies', lie: pass }

  return {
    url: proxy.url,
    batches,
    asked: everything,
    keepBack(view, isWanted = () => true) {
      const sent = Promise.withResolvers<readonly unknown[]>()
      const gone = Promise.withResolvers<void>()
      open.add(gone.resolve)
      waited = { selector: selectorOf(view), isWanted, sent: sent.resolve, gone: gone.promise }
      return { sent: sent.promise, letGo: gone.resolve }
    },
    close() {
      for (const letGo of open) letGo()
      return proxy.close()
    },
  }
}

function selectorOf(view: string): Hex {
  return toFunctionSelector(diamondAbi.find((entry) => 'name' in entry && entry.name === view) as AbiFunction)
}

/**
 * Returns the arguments of the first call of a function in a batch, also of one inside a call of Multicall3;
 * `undefined` when there is none.
 */
function argumentsIn(asked: string, selector: Hex): readonly unknown[] | undefined {
  const found = new RegExp(`${selector.slice(2)}[0-9a-f]*`).exec(asked)?.[0]
  return found === undefined ? undefined : (decodeFunctionData({ abi: diamondAbi, data: `0x${found}` }).args ?? [])
}
