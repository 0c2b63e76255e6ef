import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import { createPublicClient, http, isAddressEqual, type Address } from 'viem'
import { readAddress } from '../../arguments/readers.ts'
import type { Target } from '../../connection/target.ts'
import { formatFields } from '../../output/formatTable.ts'
import type { Command } from '../command.ts'

/** `bezel agent revoke`. */
export const agentRevokeCommand: Command = {
  name: 'agent revoke',
  summary: 'revokes an agent at once, at the service and on the chain',
  operands: [{ name: 'ADDRESS', what: 'address of the agent (default: your own agent)', isOptional: true }],
  options: { 'keep-delegate': { type: 'boolean', what: 'revoke it at the service only; send nothing to the chain' } },
  examples: ['agent revoke', 'agent revoke 0x00000000000000000000000000000000000000A1'],
  async run({ args, output, environment, interruption }) {
    const [text] = args.operands
    const agent = text === undefined ? (await environment.agent()).address : readAddress(text, 'ADDRESS')
    const trader = await environment.trader()
    const client = environment.traderClient()
    output.progress('Revoking the agent')
    const { revocationTx, mayStillBeMined } = await client.agents.revoke({ trader, agent })
    interruption.leaves(() => 'Stopped. The service has revoked the agent; the chain may still have it as delegate.')
    const delegate = await readDelegate(environment.target, trader.address)
    // The transaction ends the delegation of whoever is the delegate, which may be another agent by now.
    const isDelegate = revocationTx !== null && (delegate === undefined || isAddressEqual(delegate, agent))
    const isSent = isDelegate && !args.flag('keep-delegate')
    const txHash = isSent
      ? await client.agents.undelegate({ sender: await environment.traderSender(), revocationTx })
      : null
    output.answer({ agent, status: 'revoked', txHash }, () =>
      formatFields(
        [
          ['Agent', agent],
          ['Status', 'revoked'],
          ['Transaction', txHash],
        ],
        output,
      ),
    )
    for (const { txHash: sent } of mayStillBeMined) output.note(`Sent before, and may still be mined: ${sent}`)
    if (isDelegate && !isSent)
      output.note('It is still the delegate on the chain: it can trade there without this service.')
    if (!isDelegate) output.note('It is not the delegate on the chain, so nothing was sent there.')
  },
}

/**
 * Reads who may trade for a trader on the chain; the zero address for nobody. `undefined` when no node answers it, and
 * while a transaction of the trader is under way, because that may change it.
 */
async function readDelegate({ rpcUrl, diamond }: Target, trader: Address): Promise<Address | undefined> {
  if (rpcUrl === undefined) return undefined
  const client = createPublicClient({ transport: http(rpcUrl) })
  const view = { address: diamond, abi: tradingInteractionsAbi, functionName: 'getTradingDelegate' } as const
  try {
    const [delegate, mined, sent] = await Promise.all([
      client.readContract({ ...view, args: [trader] }),
      client.getTransactionCount({ address: trader, blockTag: 'latest' }),
      client.getTransactionCount({ address: trader, blockTag: 'pending' }),
    ])
    return sent > mined ? undefined : delegate
  } catch {
    return undefined
  }
}
