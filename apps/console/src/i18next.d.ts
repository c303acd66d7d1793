import 'i18next'

// Makes a text key that does not exist a type error. One line per area.
declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common'
    resources: {
      common: typeof import('./locales/en/common.json')
      bundles: typeof import('./locales/en/bundles.json')
      account: typeof import('./locales/en/account.json')
      audit: typeof import('./locales/en/audit.json')
      auth: typeof import('./locales/en/auth.json')
      dashboard: typeof import('./locales/en/dashboard.json')
      composer: typeof import('./locales/en/composer.json')
      configuration: typeof import('./locales/en/configuration.json')
      deployments: typeof import('./locales/en/deployments.json')
      freeze: typeof import('./locales/en/freeze.json')
      hooks: typeof import('./locales/en/hooks.json')
      log: typeof import('./locales/en/log.json')
      nodes: typeof import('./locales/en/nodes.json')
      packages: typeof import('./locales/en/packages.json')
      notifications: typeof import('./locales/en/notifications.json')
      palette: typeof import('./locales/en/palette.json')
      pipelines: typeof import('./locales/en/pipelines.json')
      projects: typeof import('./locales/en/projects.json')
      registries: typeof import('./locales/en/registries.json')
      run: typeof import('./locales/en/run.json')
      status: typeof import('./locales/en/status.json')
      storages: typeof import('./locales/en/storages.json')
      teams: typeof import('./locales/en/teams.json')
      templates: typeof import('./locales/en/templates.json')
      tokens: typeof import('./locales/en/tokens.json')
      versions: typeof import('./locales/en/versions.json')
    }
  }
}
