import { limits } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { askText, confirm } from '../components/confirm.tsx'
import { useDeniedPart } from './me.ts'

/** What a start that a freeze refuses leads to: an admin may say why it happens all the same. */
export function useFreezeQuestion() {
  const { t } = useTranslation()
  const denied = useDeniedPart('packages.freeze')
  return {
    /** Why nobody but an admin may start during a freeze; null for an admin. */
    freezeDenied: denied && t('freeze.denied', { reason: denied }),
    /** @returns the reason of an admin; null where they do not deploy, or may not */
    askWhy: async (text: string): Promise<string | null> => {
      const title = t('freeze.title')
      if (denied) {
        await confirm({ title, text, action: t('close'), info: true })
        return null
      }
      const input = {
        label: t('freeze.why'),
        help: t('freeze.whyHelp'),
        max: limits.freezeReason.max,
        missing: t('freeze.whyFirst'),
      }
      return askText({ title, text, action: t('freeze.action'), danger: true, input })
    },
  }
}
