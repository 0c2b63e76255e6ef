import { Icon } from '../ui/Icon.tsx'

export interface MarketSearchProps {
  readonly value: string
  readonly onInput: (text: string) => void
  /** Called by Enter, which opens the first market found. */
  readonly onEnter: () => void
  /** Called by the down arrow, which goes to the list. */
  readonly onDown: () => void
}

/** The search of a list of markets. The key `/` focuses it (see the keys of the whole page), Escape empties it. */
export function MarketSearch({ value, onInput, onEnter, onDown }: MarketSearchProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') onEnter()
    else if (event.key === 'ArrowDown') onDown()
    else if (event.key === 'Escape' && value !== '') onInput('')
    else return
    event.preventDefault()
  }
  return (
    <label class="market-search">
      <span class="visually-hidden">Search markets</span>
      <Icon name="search" />
      <input
        class="input market-search-input"
        type="search"
        placeholder="Search"
        autocomplete="off"
        spellcheck={false}
        aria-keyshortcuts="/"
        data-testid="market-search"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <kbd class="market-search-key" aria-hidden="true">
        /
      </kbd>
    </label>
  )
}
