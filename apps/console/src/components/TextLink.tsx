import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import { cx } from './class-names.ts'

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement>; strong?: boolean }

function TextAnchor({ className, strong, ...rest }: Props) {
  return (
    <a
      {...rest}
      className={cx(
        strong ? 'font-strong text-ink hover:underline' : 'text-accent underline-offset-2 hover:underline',
        className,
      )}
    />
  )
}

/** A link in running text or a table cell; `strong` is the name of a row. */
export const TextLink = createLink(TextAnchor)
