import type { ComponentChildren } from 'preact'

export interface Tab<Id extends string> {
  readonly id: Id
  readonly label: string
  /** Number behind the label, such as that of open orders. */
  readonly count?: number | null | undefined
}

export interface TabsProps<Id extends string> {
  /** Name of the group for screen readers. */
  readonly label: string
  readonly tabs: readonly Tab<Id>[]
  readonly active: Id
  readonly onSelect: (id: Id) => void
  /** Content of the active tab, which becomes its tab panel. */
  readonly children?: ComponentChildren
}

/** A row of tabs. Left and right arrows, Home and End move between them. */
export function Tabs<Id extends string>({ label, tabs, active, onSelect, children }: TabsProps<Id>) {
  const select = (index: number, row: Element) => {
    const tab = tabs[(index + tabs.length) % tabs.length]
    if (tab === undefined) return
    onSelect(tab.id)
    row.querySelector<HTMLElement>(`#${tabId(label, tab.id)}`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: Element }) => {
    const index = tabs.findIndex(({ id }) => id === active)
    const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    select(next, event.currentTarget)
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ id, label: words, count }) => (
          <button
            key={id}
            id={tabId(label, id)}
            type="button"
            role="tab"
            class="tab"
            aria-selected={id === active}
            aria-controls={id === active && children !== undefined ? `${tabId(label, id)}-panel` : undefined}
            tabIndex={id === active ? 0 : -1}
            data-testid={`tab-${id}`}
            onClick={() => onSelect(id)}
          >
            {words}
            {count !== undefined && count !== null && <span class="tab-count">{count}</span>}
          </button>
        ))}
      </div>
      {children !== undefined && (
        <TabPanel label={label} active={active}>
          {children}
        </TabPanel>
      )}
    </>
  )
}

interface TabPanelProps {
  /** The `label` of its tabs. */
  readonly label: string
  readonly active: string
  readonly children?: ComponentChildren
}

/** The content of the active tab. */
function TabPanel({ label, active, children }: TabPanelProps) {
  const id = tabId(label, active)
  return (
    <div id={`${id}-panel`} class="tab-panel" role="tabpanel" aria-labelledby={id}>
      {children}
    </div>
  )
}

function tabId(label: string, id: string): string {
  return `tab-${label}-${id}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}
