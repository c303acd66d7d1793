import i18n from 'i18next'
import { Trash2 } from 'lucide-react'
import { confirm } from '../../components/confirm.tsx'
import type { RowAction } from '../../table/columns.ts'

/** The revoke action of a token's row. It asks for confirmation, because programs with the token fail immediately. */
export const revokeAction = (token: { name: string }, denied: string | null, revoke: () => void): RowAction => ({
  id: 'revoke',
  label: i18n.t('tokens:revoke'),
  icon: Trash2,
  inline: true,
  danger: true,
  disabledReason: denied,
  run: async () => {
    if (await askRevoke(token.name, i18n.t('tokens:revokeText'))) revoke()
  },
})

/** @param text what will no longer work */
export const askRevoke = (name: string, text: string): Promise<boolean> =>
  confirm({
    title: i18n.t('tokens:revokeTitle', { name }),
    text,
    action: i18n.t('tokens:revoke'),
    danger: true,
  })
