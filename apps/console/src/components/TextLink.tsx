import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import { cx } from './class-names.ts'

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & {
  ref?: Ref<HTMLAnchorElement>
  strong?: boolean
  inline?: boolean
}

function TextAnchor({ className, strong, inline, ...rest }: Props) {
  return (
    <a
      {...rest}
      data-row-link={strong || undefined}
      className={cx(
        strong ? 'font-strong text-ink hover:underline' : 'text-accent underline-offset-2 hover:underline',
        inline && 'underline',
        className,
      )}
    />
  )
}

/** A link in a table cell or of its own; `strong` is the name of a row, which the whole row opens, `inline` is for running text and is underlined. */
export const TextLink = createLink(TextAnchor)
