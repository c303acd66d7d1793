ALTER TABLE "crux"."deployment_config_bundle" DROP CONSTRAINT "deployment_config_bundle_deployment_id_deployment_id_fk";
--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" DROP CONSTRAINT "deployment_config_bundle_config_bundle_id_config_bundle_id_fk";
--> statement-breakpoint
ALTER TABLE "crux"."config_bundle" ADD CONSTRAINT "config_bundle_of_team" UNIQUE("id","team_id");
--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_of_team" UNIQUE("id","team_id");
--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" ADD COLUMN "team_id" uuid NOT NULL;
--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" ADD CONSTRAINT "deployment_config_bundle_deployment" FOREIGN KEY ("deployment_id","team_id") REFERENCES "crux"."deployment"("id","team_id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" ADD CONSTRAINT "deployment_config_bundle_bundle" FOREIGN KEY ("config_bundle_id","team_id") REFERENCES "crux"."config_bundle"("id","team_id") ON DELETE no action ON UPDATE no action;
