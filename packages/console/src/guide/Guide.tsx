import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { VNode } from 'preact'
import { Button } from '../ui/Button.tsx'
import './guide.css'
import { followFacts, guideFacts, guideMemory, isGuideOffered, skipGuide } from './guideState.ts'
import { shownStep, type GuideMemory } from './guideSteps.ts'
import { guideText, type GuideText, type TicketState } from './guideTexts.ts'
import { FINGER_PX, type FingerPlace } from './placement.ts'
import { findTarget, lookAtTicket, useGuideLayout } from './useGuideTarget.ts'

/** Pause between two looks at the ticket. */
const TICKET_MS = 300

const STEPS = [1, 2, 3, 4, 5] as const

/** The guided first minute of a local chain. Renders nothing once it is done or skipped. */
export function Guide(): VNode | null {
  const hasJustEnded = useSignal(false)
  useSignalEffect(() => {
    if (isGuideOffered.value && followFacts(guideFacts.value)) hasJustEnded.value = true
  })
  if (!isGuideOffered.value) return null
  if (hasJustEnded.value) return <EndCard onClose={() => (hasJustEnded.value = false)} />
  const memory = guideMemory.value
  return memory.status === 'running' ? <StepCard memory={memory} /> : null
}

function StepCard({ memory }: { readonly memory: Extract<GuideMemory, { status: 'running' }> }): VNode {
  const ticket = useTicketState()
  const card = useRef<HTMLElement>(null)
  const step = shownStep(memory, guideFacts.value)
  const text = guideText(step, guideFacts.value, ticket)
  const layout = useGuideLayout(text.targets, card).value
  return (
    <>
      {layout.finger !== null && <Finger place={layout.finger} />}
      <aside
        ref={card}
        class="guide-card"
        data-testid="guide"
        aria-label="Guided first minute"
        style={layout.card === null ? {} : { left: `${layout.card.left}px`, top: `${layout.card.top}px` }}
      >
        <ol class="guide-dots" aria-hidden="true">
          {STEPS.map((number) => (
            <li key={number} class={number < step ? 'guide-dot-done' : number === step ? 'guide-dot-now' : ''} />
          ))}
        </ol>
        <div role="status" aria-live="polite" data-testid={`guide-step-${step}`}>
          <p class="guide-title">
            <span class="visually-hidden">{`Step ${step} of 5: `}</span>
            {text.title}
          </p>
          <p class="guide-body">{step === 3 && memory.setback !== null ? memory.setback : text.body}</p>
        </div>
        <CardButtons text={text} />
      </aside>
    </>
  )
}

function CardButtons({ text }: { readonly text: GuideText }): VNode {
  const goThere = (): void => {
    const target = findTarget(text.targets)
    if (target === null) return
    target.scrollIntoView({ block: 'center' })
    const inner = target.matches('a, button, input, select, [tabindex]')
      ? target
      : target.querySelector<HTMLElement>('a, button, input, select, [tabindex]')
    inner?.focus()
  }
  return (
    <div class="guide-buttons">
      <Button kind="quiet" small testId="guide-skip" onClick={skipGuide}>
        Skip the tour
      </Button>
      <Button small testId="guide-go" onClick={goThere}>
        Take me there
      </Button>
    </div>
  )
}

function EndCard({ onClose }: { readonly onClose: () => void }): VNode {
  return (
    <aside class="guide-card guide-card-end" data-testid="guide" aria-label="Guided first minute">
      <div role="status" aria-live="polite" data-testid="guide-done">
        <p class="guide-title">That was a whole trade</p>
        <p class="guide-body">
          Connected, opened, filled by the oracle and closed: all of it on the chain, and nobody else held your money.
          The System page can break things so that you see what happens then.
        </p>
      </div>
      <div class="guide-buttons">
        <Button kind="primary" small testId="guide-close" onClick={onClose}>
          Done
        </Button>
      </div>
    </aside>
  )
}

function Finger({ place }: { readonly place: FingerPlace }): VNode {
  return (
    <div
      class={`guide-finger guide-finger-${place.points}`}
      data-testid="guide-finger"
      aria-hidden="true"
      style={{ left: `${place.left}px`, top: `${place.top}px` }}
    >
      <svg width={FINGER_PX} height={FINGER_PX} viewBox="0 0 24 24">
        <path d="M9 11V4a1.8 1.8 0 0 1 3.6 0v5.2l5.2 1.1a2.4 2.4 0 0 1 1.9 2.7l-.7 4.6A4 4 0 0 1 15 21h-2.6a4 4 0 0 1-3.1-1.5L5 14.3a1.6 1.6 0 0 1 2.4-2.1z" />
      </svg>
    </div>
  )
}

function useTicketState(): TicketState {
  const state = useSignal<TicketState>('closed')
  useEffect(() => {
    const timer = setInterval(() => (state.value = lookAtTicket()), TICKET_MS)
    return () => clearInterval(timer)
  }, [])
  return state.value
}
