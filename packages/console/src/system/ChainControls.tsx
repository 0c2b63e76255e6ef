import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { activeChain } from '../data/chain.ts'
import { session } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { DecimalField, TextField } from '../ui/Field.tsx'
import { SegmentedControl } from '../ui/SegmentedControl.tsx'
import { ControlCard, useControl } from './ControlCard.tsx'
import { rememberChange, sandboxMemory } from './sandboxState.ts'

const MAX_BLOCKS = 1_000

const MAX_DEPTH = 128

const MAX_DELAY_MS = 600_000

/** The controls of a chain: oracle, keeper, blocks, coins. */
export function ChainControls(): VNode {
  return (
    <>
      <OracleCard />
      <KeeperCard />
      <MineCard />
      <ReorganiseCard />
      <FaucetCard />
    </>
  )
}

function OracleCard(): VNode {
  const control = useControl()
  const delay = useSignal('1000')
  const chain = activeChain.value
  const isPaused = sandboxMemory.value.oraclePaused.includes(chain)
  const known = sandboxMemory.value.oracleDelayMs[chain]
  const wrong = wholeProblem(delay.value, MAX_DELAY_MS, 0)
  const pause = async (): Promise<void> => {
    const said = isPaused ? 'The oracle answers again.' : 'The oracle is silent: orders sent now time out.'
    const isDone = await control.run({ method: 'bezel_pauseOracle', params: [!isPaused], said })
    if (isDone) rememberChange({ control: 'oracle', chain, isPaused: !isPaused })
  }
  const setDelay = async (): Promise<void> => {
    const delayMs = Number(delay.value)
    const said = `The oracle answers after ${delayMs} ms.`
    const isDone = await control.run({ method: 'bezel_setOracleDelay', params: [delayMs], said })
    if (isDone) rememberChange({ control: 'delay', chain, delayMs })
  }
  return (
    <ControlCard
      title="Oracle"
      watch="Pause it, send a market order, and watch its timeline end in a timeout, with the button that gets the collateral back. A longer delay lets you watch an order wait."
      state={{
        label: isPaused ? 'paused' : known === undefined ? 'answers' : `answers after ${known} ms`,
        isUnusual: isPaused,
      }}
      control={control}
    >
      <div class="system-buttons">
        <Button pressed={isPaused} busy={control.isBusy} testId="sandbox-oracle" onClick={() => void pause()}>
          {isPaused ? 'Let it answer' : 'Pause the oracle'}
        </Button>
      </div>
      <form class="system-inline" onSubmit={submitting(() => wrong === null && void setDelay())}>
        <DecimalField
          label="Delay of an answer"
          unit="ms"
          value={delay.value}
          error={wrong}
          testId="sandbox-delay"
          onInput={(typed) => (delay.value = typed)}
        />
        <Button type="submit" disabled={control.isBusy || wrong !== null} testId="sandbox-set-delay">
          Set
        </Button>
      </form>
    </ControlCard>
  )
}

function KeeperCard(): VNode {
  const control = useControl()
  const chain = activeChain.value
  const isPaused = sandboxMemory.value.keeperPaused.includes(chain)
  const pause = async (): Promise<void> => {
    const said = isPaused ? 'Triggers are executed again.' : 'Nothing is triggered from now on.'
    const isDone = await control.run({ method: 'bezel_pauseKeeper', params: [!isPaused], said })
    if (isDone) rememberChange({ control: 'keeper', chain, isPaused: !isPaused })
  }
  return (
    <ControlCard
      title="Keeper"
      watch="Pause it, then move the price past a stop or a resting order: nothing happens until it runs again."
      state={{ label: isPaused ? 'paused' : 'runs', isUnusual: isPaused }}
      control={control}
    >
      <div class="system-buttons">
        <Button pressed={isPaused} busy={control.isBusy} testId="sandbox-keeper" onClick={() => void pause()}>
          {isPaused ? 'Let it run' : 'Pause the keeper'}
        </Button>
      </div>
    </ControlCard>
  )
}

function MineCard(): VNode {
  const control = useControl()
  const count = useSignal('200')
  const wrong = wholeProblem(count.value, MAX_BLOCKS)
  const mine = async (): Promise<void> => {
    const blocks = Number(count.value)
    const said = `${blocks} ${blocks === 1 ? 'block was' : 'blocks were'} mined.`
    await control.run({ method: 'hardhat_mine', params: [`0x${blocks.toString(16)}`], said })
  }
  return (
    <ControlCard
      title="Mine"
      watch="An order that the oracle has not answered times out after 30 to 200 blocks, by the chain. Mine them at once instead of waiting."
      control={control}
    >
      <form class="system-inline" onSubmit={submitting(() => wrong === null && void mine())}>
        <DecimalField
          label="Blocks"
          value={count.value}
          error={wrong}
          testId="sandbox-mine-count"
          onInput={(typed) => (count.value = typed)}
        />
        <Button type="submit" busy={control.isBusy} disabled={wrong !== null} testId="sandbox-mine">
          Mine
        </Button>
      </form>
    </ControlCard>
  )
}

function ReorganiseCard(): VNode {
  const control = useControl()
  const depth = useSignal('5')
  const mode = useSignal<'drop' | 'remine'>('drop')
  const wrong = wholeProblem(depth.value, MAX_DEPTH)
  const reorganise = async (): Promise<void> => {
    const what = mode.value === 'drop' ? 'and their transactions forgotten' : 'and their transactions mined again'
    const said = `The last ${depth.value} blocks were replaced, ${what}.`
    await control.run({ method: 'bezel_reorg', params: [Number(depth.value), mode.value], said })
  }
  return (
    <ControlCard
      title="Reorganise"
      watch="Right after a fill, replace the last blocks: the timeline takes the fill back, and the position goes or comes again."
      control={control}
    >
      <SegmentedControl
        label="Transactions of these blocks"
        options={[
          { value: 'drop', label: 'Forget them', testId: 'sandbox-reorg-drop' },
          { value: 'remine', label: 'Mine them again', testId: 'sandbox-reorg-remine' },
        ]}
        value={mode.value}
        onChange={(next) => (mode.value = next)}
      />
      <form class="system-inline" onSubmit={submitting(() => wrong === null && void reorganise())}>
        <DecimalField
          label="Blocks"
          value={depth.value}
          error={wrong}
          testId="sandbox-reorg-depth"
          onInput={(typed) => (depth.value = typed)}
        />
        <Button type="submit" kind="danger" busy={control.isBusy} disabled={wrong !== null} testId="sandbox-reorg">
          Reorganise
        </Button>
      </form>
    </ControlCard>
  )
}

function FaucetCard(): VNode {
  const control = useControl()
  const typed = useSignal('')
  const who = session.value
  const address = typed.value === '' && who.kind === 'connected' ? who.address : typed.value.trim()
  const isAddress = /^0x[0-9a-fA-F]{40}$/.test(address)
  const ask = async (): Promise<void> => {
    await control.run({ method: 'bezel_faucet', params: [address], said: 'The coins have arrived.' })
  }
  return (
    <ControlCard
      title="Faucet"
      watch="Gives an address gas and play money, for instance a wallet of your own or an agent without gas. The balance changes at once."
      control={control}
    >
      <form class="system-inline" onSubmit={submitting(() => isAddress && void ask())}>
        <TextField
          label="Address"
          mono
          value={typed.value}
          placeholder={who.kind === 'connected' ? who.address : '0x…'}
          error={typed.value === '' || isAddress ? null : 'An address is 0x and 40 hexadecimal digits.'}
          testId="sandbox-faucet-address"
          onInput={(next) => (typed.value = next)}
        />
        <Button type="submit" busy={control.isBusy} disabled={!isAddress} testId="sandbox-faucet">
          Send coins
        </Button>
      </form>
    </ControlCard>
  )
}

function submitting(work: () => void): (event: Event) => void {
  return (event) => {
    event.preventDefault()
    work()
  }
}

function wholeProblem(text: string, max: number, min = 1): string | null {
  const isWhole = /^\d{1,7}$/.test(text) && Number(text) >= min && Number(text) <= max
  return isWhole ? null : `Type a whole number from ${min} to ${max}.`
}
