import type { ComponentChildren } from 'preact'
import { useSignal } from '@preact/signals'
import { chainInfo } from '../data/chain.ts'
import { connection } from '../data/live.ts'
import { clockOffMs } from '../data/now.ts'
import { session, sessionProblem, switchChain } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { machineSecond } from '../ui/clock.ts'
import { Icon } from '../ui/Icon.tsx'
import { ageWords, clockWords, serviceWords } from './bannerWords.ts'
import { isConnectOpen } from './ConnectDialog.tsx'
import { Link } from '../router/router.ts'
import { startState } from './start.ts'

/** Messages that concern the whole page, below the header: each with its next step. */
export function Banners() {
  if (startState.value.kind !== 'started') return null
  return (
    <div class="banners">
      <ServiceBanner />
      <NetworkBanner />
      <SignedOutBanner />
      <SessionProblemBanner />
      <ClockBanner />
    </div>
  )
}

interface BannerProps {
  readonly id: string
  readonly tone: 'bad' | 'warn' | 'info'
  readonly action?: ComponentChildren
  /** Words that change all the time and are not read out. */
  readonly aside?: ComponentChildren
  readonly children?: ComponentChildren
}

function Banner({ id, tone, action, aside, children }: BannerProps) {
  return (
    <div class={`banner banner-${tone}`} data-testid="banner" data-banner={id}>
      <Icon name={tone === 'info' ? 'info' : 'warning'} />
      <div class="banner-text">
        <span role={tone === 'bad' ? 'alert' : 'status'}>{children}</span> {aside}
      </div>
      {action}
    </div>
  )
}

/** Says that the service is away or that data is old, and for how long. */
function ServiceBanner() {
  const now = connection.value
  if (now.state !== 'down' && now.staleSinceMs === null) return null
  const isDown = now.state === 'down'
  const action = (
    <Link to="/system" class="button button-small">
      System
    </Link>
  )
  return (
    <Banner id={isDown ? 'down' : 'stale'} tone={isDown ? 'bad' : 'warn'} action={action} aside={<Age />}>
      {serviceWords(now)}
    </Banner>
  )
}

/** Apart from the banner, so that the clock ticks only while it is shown. */
function Age() {
  return <span class="number">{ageWords(connection.value, machineSecond.value)}</span>
}

function NetworkBanner() {
  const busy = useSignal(false)
  const state = session.value
  if (state.kind !== 'connected' || state.isRightChain) return null
  const name = chainInfo.value?.name ?? 'the chain of this page'
  const ask = async () => {
    busy.value = true
    try {
      await switchChain()
    } finally {
      busy.value = false
    }
  }
  const action = (
    <Button small kind="primary" busy={busy.value} testId="switch-chain" onClick={() => void ask()}>
      Switch to {name}
    </Button>
  )
  const found = state.walletChainId === null ? 'another network' : `network ${state.walletChainId}`
  return (
    <Banner id="network" tone="warn" action={action}>
      {state.wallet.name} is on {found}, and this page is about {name}. Nothing is sent before the wallet is switched.
    </Banner>
  )
}

/** Says why the account can't be read any more. */
function SignedOutBanner() {
  const state = session.value
  if (state.kind !== 'connected' || state.isSignedIn || state.signedOutBecause === null) return null
  return (
    <Banner id="signed-out" tone="warn">
      {state.signedOutBecause} Sign in at the top to go on.
    </Banner>
  )
}

/** Shows why connecting or signing in failed. The list of wallets shows that itself while it is open. */
function SessionProblemBanner() {
  const problem = sessionProblem.value
  if (problem === null || isConnectOpen.value) return null
  return (
    <Banner id="session" tone={problem.isRefusedByUser ? 'warn' : 'bad'}>
      <strong>{problem.title}.</strong> {problem.message} {problem.remedy}
    </Banner>
  )
}

function ClockBanner() {
  const words = clockWords(clockOffMs.value)
  if (words === null) return null
  return (
    <Banner id="clock" tone="info">
      {words}
    </Banner>
  )
}
