import type { GuideFacts, GuideStep } from './guideSteps.ts'

/** The words of a step, and what its finger points at. */
export interface GuideText {
  readonly title: string
  readonly body: string
  /** Selectors, the best one first: the finger points at the first that is visible. */
  readonly targets: readonly string[]
}

/** The ticket: not on the screen, without a size, or with one. On narrow screens a button opens it. */
export type TicketState = 'closed' | 'empty' | 'sized'

const MARKET_TARGETS = ['[data-guide="market"]', '[data-testid="market-row-BTC-USD"]', '[data-testid="nav-markets"]']

/** Returns the words of a step by what is true on the page. */
export function guideText(step: GuideStep, facts: GuideFacts, ticket: TicketState): GuideText {
  switch (step) {
    case 1:
      return walletText(facts)
    case 2:
      return {
        title: 'Choose a market',
        body: 'Open BTC/USD, or any other market that is open now.',
        targets: MARKET_TARGETS,
      }
    case 3:
      return orderText(ticket)
    case 4:
      return {
        title: 'Watch it fill',
        body: 'The order is on the chain. The oracle answers it within about a second; its timeline shows each step.',
        targets: ['[data-guide="order"]', '[data-testid^="order-timeline-"]', '[data-testid^="order-"]'],
      }
    case 5:
      return {
        title: 'Close the position',
        body: 'Your position is open and moves with the price. Close it, and look at what it earned.',
        targets: [
          '[data-guide="close"]',
          '[data-testid^="position-close-"]',
          '[data-testid="tab-positions"]',
          '[data-testid="nav-portfolio"]',
        ],
      }
  }
}

function walletText({ trader }: GuideFacts): GuideText {
  if (trader !== null) {
    return {
      title: 'Sign in',
      body: 'One signature gives this browser a key that can only read. It costs nothing.',
      targets: ['[data-guide="sign-in"]', '[data-testid="sign-in"]', '[data-guide="wallet"]'],
    }
  }
  return {
    title: 'Connect a wallet',
    body: 'Take the sandbox account trader-1: it has play money of this local chain, and needs no extension.',
    targets: ['[data-guide="wallet"]', '[data-testid="connect"]'],
  }
}

function orderText(ticket: TicketState): GuideText {
  switch (ticket) {
    case 'closed':
      return {
        title: 'Open the ticket',
        body: 'Long gains when the price rises, short when it falls.',
        targets: ['[data-guide="side-long"]', '[data-testid="side-long"]', '[data-testid="sheet-long"]'],
      }
    case 'empty':
      return {
        title: 'Type a size',
        body: 'For instance 0.1. The preview shows price, fee and liquidation before anything is signed.',
        targets: ['[data-guide="size"]'],
      }
    case 'sized':
      return {
        title: 'Send the order',
        body: 'Look at the preview, then send. What is missing is named there, with a button that cures it.',
        targets: ['[data-testid^="cure-"]', '[data-guide="submit"]', '[data-testid="submit"]'],
      }
  }
}
