import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useSignal } from '@preact/signals'

export interface MenuProps {
  /** Content of the button that opens the menu. */
  readonly button: ComponentChildren
  /** Name for screen readers. */
  readonly label: string
  /** The entries, mostly `MenuItem`. A function receives what closes the menu. */
  readonly children: ComponentChildren | ((close: () => void) => ComponentChildren)
  /** Side of the button that the panel is aligned with. Default `end`. */
  readonly align?: 'start' | 'end' | undefined
  readonly testId?: string | undefined
  readonly guide?: string | undefined
  /** Class of the button. */
  readonly class?: string | undefined
  readonly onOpen?: (() => void) | undefined
}

/** A button with a panel below it. Escape, a click elsewhere and leaving it by the keyboard close it. */
export function Menu(props: MenuProps) {
  const { button, label, children, align = 'end', testId, guide } = props
  const open = useSignal(false)
  const root = useRef<HTMLDivElement>(null)
  const trigger = useRef<HTMLButtonElement>(null)
  const close = () => {
    if (root.current?.contains(document.activeElement) === true) trigger.current?.focus()
    open.value = false
  }
  const isOpen = open.value
  useEffect(() => {
    if (!isOpen) return
    const onPointer = (event: PointerEvent) => {
      if (event.target instanceof Node && root.current?.contains(event.target) === false) open.value = false
    }
    document.addEventListener('pointerdown', onPointer)
    return () => document.removeEventListener('pointerdown', onPointer)
  }, [isOpen])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && open.value) {
      event.stopPropagation()
      close()
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') moveFocus(root.current, event)
  }
  const onFocusOut = (event: FocusEvent) => {
    if (event.relatedTarget instanceof Node && root.current?.contains(event.relatedTarget) === false) open.value = false
  }
  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      <button
        ref={trigger}
        type="button"
        class={props.class ?? 'button'}
        aria-label={label}
        aria-expanded={isOpen}
        data-testid={testId}
        data-guide={guide}
        onClick={() => {
          open.value = !isOpen
          if (!isOpen) props.onOpen?.()
        }}
      >
        {button}
      </button>
      {isOpen && (
        <div class={`menu-panel menu-${align}`} role="group" aria-label={label}>
          {typeof children === 'function' ? children(close) : children}
        </div>
      )}
    </div>
  )
}

export interface MenuItemProps {
  readonly onClick: () => void
  readonly children?: ComponentChildren
  readonly danger?: boolean | undefined
  readonly disabled?: boolean | undefined
  readonly testId?: string | undefined
}

/** An entry of a menu. */
export function MenuItem({ onClick, children, danger = false, disabled, testId }: MenuItemProps) {
  return (
    <button
      type="button"
      class={danger ? 'menu-item menu-item-danger' : 'menu-item'}
      disabled={disabled}
      data-testid={testId}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

function moveFocus(root: HTMLElement | null, event: KeyboardEvent) {
  const items = [...(root?.querySelectorAll<HTMLElement>('.menu-panel :is(button, a[href]):not([disabled])') ?? [])]
  if (items.length === 0) return
  event.preventDefault()
  const index = items.findIndex((item) => item === document.activeElement)
  const step = event.key === 'ArrowDown' ? 1 : -1
  items[index === -1 ? (step === 1 ? 0 : items.length - 1) : (index + step + items.length) % items.length]?.focus()
}
