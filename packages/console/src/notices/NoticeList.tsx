import type { Notification } from '@bezel/sdk'
import { useEffect } from 'preact/hooks'
import { Link } from '../router/router.ts'
import { dismissNotification, notifications } from '../data/account.ts'
import { serverNow } from '../data/now.ts'
import { AccountGate } from '../portfolio/AccountGate.tsx'
import { isBusy, problemOfAction, runAction } from '../session/act.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Icon } from '../ui/Icon.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Time } from '../ui/Time.tsx'
import { askToNotify, notifyState } from './browserNotifications.ts'
import { groupNotices, pageOfNotice } from './grouping.ts'
import { markSeen } from './seen.ts'

const DISMISS = 'dismiss-notice'

const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })

/** The list of notices below the bell. `onLeave` is called when a link of it is followed. */
export function NoticeList({ onLeave }: { readonly onLeave: () => void }) {
  const all = notifications.value
  // What comes while the list is open is seen at once.
  useEffect(markSeen, [all])
  return (
    <div class="notices" data-testid="notices">
      <header class="notices-header">
        <h2>Notices</h2>
        <AllowButton />
      </header>
      <AccountGate what="notices">
        <ProblemNotice problem={problemOfAction(DISMISS).value} />
        {all === null ? <Skeleton lines={4} /> : <Groups notices={all} onLeave={onLeave} />}
      </AccountGate>
    </div>
  )
}

/** Asks for notifications of the browser, on a click and never by itself. */
function AllowButton() {
  switch (notifyState.value) {
    case 'default':
      return (
        <Button small kind="quiet" testId="notify-allow" onClick={() => void askToNotify()}>
          Notify me in the browser
        </Button>
      )
    case 'granted':
      return <span class="notices-muted">The browser notifies you too.</span>
    case 'denied':
      return <span class="notices-muted">The browser blocks notifications; its settings of this page allow them.</span>
    case 'absent':
      return null
  }
}

interface GroupsProps {
  readonly notices: readonly Notification[]
  readonly onLeave: () => void
}

function Groups({ notices, onLeave }: GroupsProps) {
  if (notices.length === 0) {
    return <Empty title="No notices.">Fills, refusals, timeouts and changes of agents are told here.</Empty>
  }
  return (
    <div aria-live="polite">
      {groupNotices(notices, serverNow(), (ms) => DAY.format(ms)).map((group) => (
        <section key={group.heading} aria-label={group.heading}>
          <h3 class="notices-heading">{group.heading}</h3>
          <ul>
            {group.notices.map((notice) => (
              <Entry key={notice.id} notice={notice} onLeave={onLeave} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const TONES: Readonly<Record<Notification['severity'], { readonly tone: Tone; readonly word: string }>> = {
  info: { tone: 'info', word: 'Info' },
  warning: { tone: 'warn', word: 'Warning' },
  critical: { tone: 'bad', word: 'Critical' },
}

function Entry({ notice, onLeave }: { readonly notice: Notification; readonly onLeave: () => void }) {
  const { id, severity, title, message, createdAt } = notice
  const page = pageOfNotice(notice)
  const { tone, word } = TONES[severity]
  return (
    <li class="notices-entry" data-testid={`notice-${id}`}>
      <div class="notices-title">
        {severity !== 'info' && <Badge tone={tone}>{word}</Badge>}
        {page === null ? (
          <strong>{title}</strong>
        ) : (
          <Link to={page} onClick={onLeave}>
            {title}
          </Link>
        )}
        <span class="notices-muted">
          <Time ms={createdAt} as="age" />
        </span>
      </div>
      <p class="notices-message">{message}</p>
      <Button
        small
        kind="quiet"
        class="notices-dismiss"
        label={`Dismiss: ${title}`}
        busy={isBusy(DISMISS).value}
        testId={`notice-dismiss-${id}`}
        onClick={() => void runAction(DISMISS, () => dismissNotification(id), { needs: 'read' })}
      >
        <Icon name="close" />
      </Button>
    </li>
  )
}
