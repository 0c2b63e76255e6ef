import { withRoom, type Missing } from '@bezel/sdk'
import { runAction } from './act.ts'
import { walletSender } from './sender.ts'
import { activeAgent, activeSigner, chooseSigner } from './sessionAgent.ts'

/** The way to get what a request lacks, for a button. */
export interface Cure {
  readonly label: string
  /** Does it as an action of the user. Resolves to undefined when that failed; its problem is that of the action. */
  readonly run: (action: string) => Promise<boolean | undefined>
}

/** Returns the cure that the wallet of the trader has for something that is missing; null where it has none. */
export function cureOf(missing: Missing): Cure | null {
  switch (missing.kind) {
    case 'allowance': {
      const { collateral, needed } = missing
      const amount = withRoom(needed)
      return {
        label: `Approve ${amount} ${collateral}`,
        run: (action) =>
          runAction(
            action,
            async (client) => {
              await client.account.approve({ sender: walletSender(), collateral, amount })
              return true
            },
            { needs: 'wallet', done: `Approved ${amount} ${collateral}` },
          ),
      }
    }
    case 'delegation':
      return activeAgent.value === null ? null : { label: 'Delegate', run: delegate }
    case 'scope':
      return activeSigner.value === 'session' ? { label: 'Sign with the wallet', run: takeWallet } : null
    case 'balance':
      return null
  }
}

function delegate(action: string): Promise<boolean | undefined> {
  return runAction(
    action,
    async (client) => {
      await client.agents.delegate({ sender: walletSender() })
      return true
    },
    { needs: 'wallet', done: 'Delegated' },
  )
}

async function takeWallet(): Promise<true> {
  chooseSigner('wallet')
  return true
}

/** Returns the next step in words of the page, where those of the service speak of its interface. */
export function plainRemedy({ kind, remedy }: Missing): string {
  switch (kind) {
    case 'allowance':
      return 'Approve it, with 1 % of room for the price to move; it costs one transaction of your wallet.'
    case 'delegation':
      return 'Your wallet delegates trading to the agent with one transaction. There is one delegate per trader.'
    case 'scope':
      return activeSigner.value === 'session'
        ? 'Sign with the wallet, which has no limits, or make an agent with wider ones under Agents.'
        : 'Make an agent with wider limits under Agents.'
    case 'balance':
      return remedy
  }
}
