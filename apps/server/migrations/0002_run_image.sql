CREATE TABLE "crux"."image_run" (
	"team_id" uuid NOT NULL,
	"key" uuid NOT NULL,
	"request_hash" text NOT NULL,
	"project_id" uuid NOT NULL,
	"version_id" uuid NOT NULL,
	"deployment_id" uuid NOT NULL,
	CONSTRAINT "image_run_team_id_key_pk" PRIMARY KEY("team_id","key")
);
--> statement-breakpoint
ALTER TABLE "crux"."image_run" ADD CONSTRAINT "image_run_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."image_run" ADD CONSTRAINT "image_run_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "crux"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "image_run_project" ON "crux"."image_run" USING btree ("project_id");