// The routes of routes.ts on Spring Web MVC and Tomcat.
package paths;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Service {
  public static void main(String[] arguments) {
    SpringApplication.run(Service.class, arguments);
  }

  @GetMapping("/items/{id}") String item() { return "reached item"; }
  @GetMapping("/items/{id}/payments") String payments() { return "reached payments"; }
  @RequestMapping("/admin/{id}") String admin() { return "reached admin"; }
  @GetMapping("/export") String export() { return "reached export"; }
  @GetMapping("/users:purge") String purge() { return "reached purge"; }
  @GetMapping("/$metadata") String metadata() { return "reached metadata"; }
  @GetMapping("/@me") String me() { return "reached me"; }
  @GetMapping("/pages/$status") String status() { return "reached status"; }
  @GetMapping("/pages/{name}") String page() { return "reached page"; }
  @GetMapping("/files/**") String files() { return "reached files"; }
  @RequestMapping("/mono/secure/**") String secure() { return "reached secure"; }
  @RequestMapping("/mono/**") String mono() { return "reached mono"; }
}
