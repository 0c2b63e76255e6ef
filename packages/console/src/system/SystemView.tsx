import type { ComponentChildren, VNode } from 'preact'
import { formatAmount, formatDate } from '../ground/format.ts'
import { activeChain } from '../data/chain.ts'
import { connection, ready } from '../data/live.ts'
import { clockOffMs, serverNow } from '../data/now.ts'
import { apiBaseUrl, settings } from '../data/settings.ts'
import { Badge } from '../ui/Badge.tsx'
import { nowSecond } from '../ui/clock.ts'
import { CopyText } from '../ui/CopyText.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Time } from '../ui/Time.tsx'
import { chainWords, clockWords, feedWords, readReadiness } from './readiness.ts'
import { SandboxPanel } from './SandboxPanel.tsx'
import { chainHead, sandboxUrl, useChainHead, type ChainHead } from './sandboxState.ts'
import { serviceFacts, useServiceFacts } from './serviceState.ts'
import './system.css'

/** The view of the service's state and, on a local chain, of its controls. */
export function SystemView(): VNode {
  useServiceFacts()
  useChainHead()
  return (
    <div class="system-view" data-testid="system">
      <h1>System</h1>
      <div class="system-columns">
        <ServiceSection />
        <ChainsSection />
        <ChainSection />
      </div>
      <SandboxPanel />
    </div>
  )
}

function ServiceSection(): VNode {
  const { roundTripMs, limit } = serviceFacts.value
  const asked = ready.value
  const clock = clockWords(clockOffMs.value)
  return (
    <Section title="Service">
      <Line label="Answers">
        {roundTripMs === null ? (
          <Badge tone={asked === null ? 'none' : 'bad'}>{asked === null ? 'asking' : 'no answer'}</Badge>
        ) : (
          <>
            <Badge tone="good">yes</Badge> <span class="number">in {roundTripMs} ms</span>
          </>
        )}
      </Line>
      <Line label="Live data">
        <Badge tone={connection.value.state === 'live' ? 'good' : 'warn'}>{connection.value.state}</Badge>
      </Line>
      <Line label="Version">{settings.value?.version ?? '–'}</Line>
      <Line label="Address">{apiBaseUrl()}</Line>
      <Line label="Your limit">
        {limit === null
          ? '–'
          : `${whole(limit.limit)} requests a minute, ${whole(limit.remaining)} left for ${limit.resetSeconds} s`}
      </Line>
      {clock !== null && <Notice tone="warn">{clock}</Notice>}
      {connection.value.message !== null && <Notice tone="warn">{connection.value.message}</Notice>}
      <p>
        <a href={`${apiBaseUrl()}/docs`}>Documentation</a>
        {' · '}
        <a href={licencesAddress()} data-testid="licences">
          Licences
        </a>
      </p>
    </Section>
  )
}

/** Returns the address of the licences of all that is in this page, which the build writes into its head. */
function licencesAddress(): string | undefined {
  return document.querySelector<HTMLLinkElement>('link[rel="license"]')?.href
}

function whole(count: number): string {
  return formatAmount(String(count), { decimals: 0 })
}

function ChainsSection(): VNode {
  const states = readReadiness(ready.value?.body)
  return (
    <Section title="Chains">
      {ready.value === null ? (
        <Skeleton lines={3} />
      ) : states === null ? (
        <Notice tone="bad" title="No answer">
          The service does not say how its chains are. It may be restarting; this page asks again every five seconds.
        </Notice>
      ) : (
        <ul class="system-list">
          {Object.entries(states).map(([slug, state]) => {
            const { tone, label, sentences } = chainWords(state)
            const name = settings.value?.chains.find((chain) => chain.slug === slug)?.name ?? slug
            return (
              <li key={slug} data-testid={`system-chain-${slug}`}>
                <span class="system-line">
                  <span>{name}</span>
                  <Badge tone={tone}>{label}</Badge>
                </span>
                {sentences.map((sentence) => (
                  <p key={sentence} class="muted">
                    {sentence}
                  </p>
                ))}
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}

function ChainSection(): VNode {
  const { updatedAts, info } = serviceFacts.value
  // Reads the ticking clock, so that a silent feed grows old before one's eyes.
  void nowSecond.value
  const feed = updatedAts === null ? null : feedWords(updatedAts, serverNow())
  const head = chainHead.value
  const name = settings.value?.chains.find(({ slug }) => slug === activeChain.value)?.name ?? activeChain.value
  return (
    <Section title={name}>
      <Line label="Prices">
        {feed === null ? (
          <Skeleton width="12ch" />
        ) : (
          <Badge tone={feed.tone}>{feed.tone === 'bad' ? 'silent' : 'live'}</Badge>
        )}
      </Line>
      {feed !== null && <p class="muted">{feed.sentence}</p>}
      {sandboxUrl.value !== null && (
        <Line label="Newest block">{head === null ? <Skeleton width="8ch" /> : <HeadText head={head} />}</Line>
      )}
      {info === null ? (
        <Skeleton lines={3} />
      ) : (
        <>
          <Line label="Kind">{info.testnet ? 'test chain, its money is worth nothing' : 'live chain'}</Line>
          <Line label="Contracts">
            <CopyText text={info.diamond} />
          </Line>
          <Line label="History known since">
            {info.knownSince === null
              ? 'being read'
              : `block ${info.knownSince.block}${info.knownSince.timestamp === null ? '' : `, ${formatDate(info.knownSince.timestamp)}`}`}
          </Line>
        </>
      )}
    </Section>
  )
}

function HeadText({ head: { number, timestampMs } }: { readonly head: ChainHead }): VNode {
  return (
    <>
      <span class="number" data-testid="system-block">
        {number}
      </span>
      {', '}
      <Time ms={timestampMs} as="time" />
    </>
  )
}

function Section({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): VNode {
  return (
    <section class="system-section" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

function Line({ label, children }: { readonly label: string; readonly children?: ComponentChildren }): VNode {
  return (
    <div class="system-line">
      <span class="muted">{label}</span>
      <span class="system-value">{children}</span>
    </div>
  )
}
