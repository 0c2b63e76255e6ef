import { useEffect } from 'preact/hooks'
import { Icon } from '../ui/Icon.tsx'
import { Menu } from '../ui/Menu.tsx'
import { NoticeList } from './NoticeList.tsx'
import { announceNotices } from './browserNotifications.ts'
import { markSeen, unread } from './seen.ts'
import './notices.css'

const MAX_COUNT = 99

/** The bell of the header: the number of notices that were not seen yet, and the list of all. */
export function Bell() {
  useEffect(announceNotices, [])
  const count = unread.value
  const label = count === 0 ? 'Notices' : `Notices, ${count} new`
  const button = (
    <>
      <Icon name="bell" />
      {count > 0 && (
        <span class="notices-count" data-testid="bell-count" aria-hidden="true">
          {count > MAX_COUNT ? `${MAX_COUNT}+` : count}
        </span>
      )}
    </>
  )
  return (
    <Menu button={button} label={label} testId="bell" class="button button-quiet notices-bell" onOpen={markSeen}>
      {(close) => <NoticeList onLeave={close} />}
    </Menu>
  )
}
