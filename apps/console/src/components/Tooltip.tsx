import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

type Props = { content: ReactNode; children: ReactNode; side?: 'top' | 'right' | 'bottom' | 'left' }

/** A word on hover and focus. The child must accept a ref and props (a native element or one of our buttons). */
export function Tooltip({ content, children, side = 'top' }: Props) {
  if (content === undefined || content === null || content === '') return children
  return (
    <Radix.Root delayDuration={350}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-60 max-w-72 rounded-md border border-line-strong bg-raised px-2 py-1 text-small text-ink shadow-lift animate-[appear_.12s]"
        >
          {content}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export const TooltipProvider = Radix.Provider
